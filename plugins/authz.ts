import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type Action, decide, type Resource } from '#src/access/policy.ts'
import type { Scope } from '#src/db/database.ts'
import { Refusal } from '#src/errors.ts'
import type { Caller } from '#src/identity/sessions.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is asking. Reading it without an identity is a 401. */
    readonly caller: Caller
    /** What is the caller's own, in whichever tenant. */
    readonly ownerScope: Scope & { readonly userId: number }
  }
}

/**
 * Every route of the scope needs an identity (401) and, where it names a rule, the policy's leave
 * (403), both before a body is read. Whether the object is theirs is the scope's business (404).
 */
export default fp(
  async function authz(app) {
    app.decorateRequest('caller', {
      getter() {
        const caller = this.session?.caller
        if (!caller) throw new Refusal('unauthenticated')
        return caller
      },
    })
    app.decorateRequest('ownerScope', {
      getter() {
        const { userId, tenantId } = this.caller
        return tenantId === null ? { userId } : { userId, tenantId }
      },
    })
    app.addHook('onRequest', requireCaller)
    app.addHook('onRequest', requirePermission)
  },
  { name: 'authz', fastify: '5.x', dependencies: ['session', 'route-access'] },
)

async function requireCaller(request: FastifyRequest): Promise<void> {
  if (!request.session?.caller) throw new Refusal('unauthenticated')
}

async function requirePermission(request: FastifyRequest): Promise<void> {
  const { access } = request.routeOptions.config
  if (access === 'signed-in') return
  if (typeof access !== 'object') throw new Refusal('forbidden')
  const reason = judge(request, access.resource, access.action)
  if (reason === 'allowed') return
  request.log.info({ reason, userId: request.caller.userId }, 'refused')
  throw new Refusal('forbidden')
}

/** Only an explicit allow is one; a decision that cannot be made is a refusal (specification). */
function judge(request: FastifyRequest, resource: Resource, action: Action): string {
  try {
    const decision = decide({ ...request.caller, operator: request.operator }, resource, action)
    return decision.effect === 'allow' ? 'allowed' : decision.reason
  } catch (error) {
    request.log.error({ err: error }, 'the decision failed')
    return 'error'
  }
}
