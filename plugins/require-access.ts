import type { FastifyInstance, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { type Action, policy, type Resource } from '#src/access/policy.ts'

/**
 * Who may call a route.
 * - `public`: anyone
 * - `signature`: the sender of a signed body
 * - `signed-in`: a session or an API token, for the caller's own objects
 * - `session`: a session, no token
 * - `recent-session`: a session authenticated within the last five minutes
 * - otherwise the policy rule that decides
 */
export type Access =
  | 'public'
  | 'signature'
  | 'signed-in'
  | 'session'
  | 'recent-session'
  | { resource: Resource; action: Action }

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
  requireDecorator(this, access === 'signature' ? ['webhook', 'logout'] : ['caller'], name)
  if (access === 'signature' || personal.includes(access)) return
  if (typeof access !== 'object') throw new Error(`${name}: the policy has no rule ${access}.`)
  const rule = policy.find(
    ({ resource, action }) => resource === access.resource && action === access.action,
  )
  if (rule === undefined) {
    throw new Error(`${name}: the policy has no rule ${access.resource}:${access.action}.`)
  }
  if (rule.scope === 'tenant' || rule.scope === 'chain')
    requireDecorator(this, ['tenantScope'], name)
  if (rule.scope === 'operator') requireDecorator(this, ['operator'], name)
}

const personal: readonly unknown[] = ['signed-in', 'session', 'recent-session']

/** The guard that sets one of the decorators must be registered in the route's scope. */
function requireDecorator(
  app: FastifyInstance,
  decorators: readonly string[],
  route: string,
): void {
  if (decorators.some((decorator) => app.hasRequestDecorator(decorator))) return
  const names = decorators.map((decorator) => `request.${decorator}`).join(' or ')
  throw new Error(`${route} is outside the scope that sets ${names}.`)
}
