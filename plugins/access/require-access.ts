import type { FastifyInstance, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { type Action, policy, type Resource } from '#src/access/policy.ts'

/**
 * Who may call a route. `public`: anyone. `signature`: the body proves its sender. Otherwise the rule
 * of the policy that decides.
 */
type Access = 'public' | 'signature' | { resource: Resource; action: Action }

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
  }
}

/**
 * Deny by default: the server does not start if a route has no `config.access`, names an unknown
 * policy rule, or is registered in a scope without the guard that its access needs.
 */
export default fp(
  async function requireAccess(app) {
    app.addHook('onRoute', refuseUnguardedRoute)
  },
  { name: 'require-access', fastify: '5.x' },
)

function refuseUnguardedRoute(this: FastifyInstance, route: RouteOptions): void {
  const name = `${route.method} ${route.url}`
  const access = route.config?.access
  if (access === undefined) throw new Error(`${name} does not state config.access.`)
  if (access === 'public') return
  if (access === 'signature') {
    demand(this, ['webhook', 'logout'], name)
    return
  }
  const rule = policy.find(
    ({ resource, action }) => resource === access.resource && action === access.action,
  )
  if (rule === undefined) {
    const unknown = typeof access === 'object' ? `${access.resource}:${access.action}` : access
    throw new Error(`${name}: the policy has no rule ${unknown}.`)
  }
  const needsTenant = rule.scope === 'tenant' || rule.scope === 'chain'
  const isNamed = rule.scope === 'app' && route.config?.namesTenant === true
  demand(this, [needsTenant || isNamed ? 'tenantEntry' : 'entry'], name)
}

/** One of the decorators must be there: the guard that sets it stands before the route. */
function demand(app: FastifyInstance, decorators: readonly string[], route: string): void {
  if (decorators.some((decorator) => app.hasRequestDecorator(decorator))) return
  const names = decorators.map((decorator) => `request.${decorator}`).join(' or ')
  throw new Error(`${route} is outside the scope that sets ${names}.`)
}
