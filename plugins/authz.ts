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
    /** Who is asking, by session or token. Reading it without an identity is a 401. */
    readonly caller: Caller
    /** Who is asking, by session. A token is refused. */
    readonly sessionCaller: SessionCaller
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

/** Only an explicit allow is one; a decision that cannot be made is a refusal (specification). */
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
