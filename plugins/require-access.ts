import type { FastifyInstance, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { type Action, policy, type Resource } from '#src/access/policy.ts'

/**
 * Who may call a route. `public`: anyone. `signature`: the body proves its sender. `signed-in`:
 * whoever has a session or a token, for what is theirs alone. `session`: whoever has a session, no
 * token. `recent-session`: a session that was authenticated within the last five minutes. Else the
 * rule of the policy that decides.
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
 * Deny by default, at boot: a route that does not state its access, states a rule that does not
 * exist, or stands in a scope without the guard its access needs, stops the start.
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
  demand(this, access === 'signature' ? ['webhook', 'logout'] : ['caller'], name)
  if (access === 'signature' || personal.includes(access)) return
  if (typeof access !== 'object') throw new Error(`${name}: the policy has no rule ${access}.`)
  const rule = policy.find(
    ({ resource, action }) => resource === access.resource && action === access.action,
  )
  if (rule === undefined) {
    throw new Error(`${name}: the policy has no rule ${access.resource}:${access.action}.`)
  }
  if (rule.scope === 'tenant' || rule.scope === 'chain') demand(this, ['tenantScope'], name)
  if (rule.scope === 'operator') demand(this, ['operator'], name)
}

const personal: readonly unknown[] = ['signed-in', 'session', 'recent-session']

/** One of the decorators must be there: the guard that sets it stands before the route. */
function demand(app: FastifyInstance, decorators: readonly string[], route: string): void {
  if (decorators.some((decorator) => app.hasRequestDecorator(decorator))) return
  const names = decorators.map((decorator) => `request.${decorator}`).join(' or ')
  throw new Error(`${route} stands outside the scope that sets ${names}.`)
}
