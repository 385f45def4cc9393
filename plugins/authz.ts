import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { decide } from '#src/access/policy.ts'
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
  const decision = decide(request.caller, access.resource, access.action)
  if (decision.effect === 'allow') return
  request.log.info({ reason: decision.reason, userId: request.caller.userId }, 'refused')
  throw new Refusal('forbidden')
}
