import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type Action, decideWithoutObject, type Resource } from '#src/access/policy.ts'
import {
  type Caller,
  callerOf,
  isRecentlyAuthenticated,
  type SessionCaller,
} from '#src/auth/sessions/caller.ts'
import type { Scope } from '#src/db/database.ts'
import { Problem } from '#src/http/problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller, by session or token. Reading it without a credential is a 401. */
    readonly caller: Caller
    /** The caller, by session. Reading it with a token is a 403. */
    readonly sessionCaller: SessionCaller
    /** Scope of the caller's own rows. */
    readonly ownerScope: Scope & { readonly userId: number }
  }
}

/**
 * Every route of the scope requires a caller (401) and the permission of its policy rule (403). Both
 * are checked before the body is read. Access to the object itself is decided by the query (404).
 */
export default fp(
  async function authz(app) {
    app.decorateRequest('caller', {
      getter() {
        const caller = callerOf(this)
        if (!caller) throw new Problem('unauthenticated')
        return caller
      },
    })
    app.decorateRequest('sessionCaller', {
      getter() {
        const { caller } = this
        const { sessionId } = caller
        if (sessionId === null) throw sessionRequired()
        return { ...caller, sessionId }
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
  { name: 'authz', fastify: '5.x', dependencies: ['session', 'api-token', 'require-access'] },
)

async function requireCaller(request: FastifyRequest): Promise<void> {
  if (!callerOf(request)) throw new Problem('unauthenticated')
}

async function requirePermission(request: FastifyRequest): Promise<void> {
  const { access } = request.routeOptions.config
  if (access === 'signed-in') return
  if (access === 'session' || access === 'recent-session') {
    return requireSession(request, access === 'recent-session')
  }
  if (typeof access !== 'object') throw new Problem('forbidden')
  const reason = judge(request, access.resource, access.action)
  if (reason === 'allowed') return
  request.log.info({ reason, userId: request.caller.userId }, 'refused')
  throw new Problem('forbidden', { reason })
}

function requireSession(request: FastifyRequest, recent: boolean): void {
  const { sessionCaller } = request
  if (!recent || isRecentlyAuthenticated(sessionCaller)) return
  throw new Problem('reauthentication-required', {
    detail:
      'This changes how you sign in. Open /auth/login?reauthenticate=true, confirm who you are, then try again within five minutes.',
  })
}

function sessionRequired(): Problem {
  return new Problem('session-required', { detail: 'Only a signed-in person may do this.' })
}

/** Only an explicit allow is accepted; an error while deciding is a refusal (specification). */
function judge(request: FastifyRequest, resource: Resource, action: Action): string {
  try {
    const caller = { ...request.caller, operator: request.operator }
    const decision = decideWithoutObject({ caller, resource, action })
    return decision.effect === 'allow' ? 'allowed' : decision.reason
  } catch (error) {
    request.log.error({ err: error }, 'the decision failed')
    return 'error'
  }
}
