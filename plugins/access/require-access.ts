import type { FastifyInstance, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { type Rule, ruleOf, type Stated } from '#src/access/policy.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'

/**
 * Who may call a route. `public`: anyone. `signature`: the body proves its sender. Otherwise the rule
 * of the policy that decides, with a feature that the plan of the person must have beside it.
 */
type Access = 'public' | 'signature' | Stated

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
  if (access === undefined) {
    throw new OperatorError(
      `${name} does not state config.access.`,
      "Name the rule in its options: config: { access: { resource: 'task', action: 'read' } }, or access: 'public' for everybody.",
    )
  }
  if (access === 'public') return
  if (access === 'signature') {
    demand(this, ['webhook', 'logout'], name)
    return
  }
  const { feature, ...stated } = access
  const rule = ruleOf(stated)
  if (rule === null) {
    const unknown = typeof access === 'object' ? `${access.resource}:${access.action}` : access
    throw new OperatorError(
      `${name}: the policy has no rule ${unknown}.`,
      'Name a resource of the app and one of its actions, which generated/access.md lists.',
    )
  }
  if (feature !== undefined) demandFeature(access, rule, name)
  const needsTenant = rule.scope === 'tenant' || rule.scope === 'chain'
  const isNamed = rule.scope === 'app' && route.config?.namesTenant === true
  demand(this, [needsTenant || isNamed ? 'tenantEntry' : 'entry'], name)
}

/** A feature of the route would replace what the rule asks for, and one that no plan has refuses everybody. */
function demandFeature(access: Stated, { plans, scope, forServices }: Rule, route: string): void {
  const { feature } = access
  if (plans.length > 0)
    throw new Error(`${route} asks for the feature ${feature}, and its rule for another plan.`)
  if (scope === 'app' || forServices !== false) {
    throw new Error(
      `${route} asks for the feature ${feature}, and its rule is for programs, which have no plan.`,
    )
  }
  if (ruleOf(access)?.plans.length === 0) {
    throw new Error(`${route} asks for the feature ${feature}, which no plan has.`)
  }
}

/** One of the decorators must be there: the guard that sets it stands before the route. */
function demand(app: FastifyInstance, decorators: readonly string[], route: string): void {
  if (decorators.some((decorator) => app.hasRequestDecorator(decorator))) return
  const names = decorators.map((decorator) => `request.${decorator}`).join(' or ')
  throw new Error(`${route} is outside the scope that sets ${names}.`)
}
