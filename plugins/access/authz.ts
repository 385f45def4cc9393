import type {
  DoneFuncWithErrOrRes,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify'
import fp from 'fastify-plugin'
import type { Caller, Principal, SessionCaller } from '#src/access/caller.ts'
import { decideWithoutObject, endingRules, requirePerson, toProblem } from '#src/access/policy.ts'
import { isBearer } from '#src/auth/sessions/enter.ts'
import { checkForeseen, type Entry, refine } from '#src/db/entry.ts'
import { errorTable, Problem } from '#src/http/problems.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The handler does nothing before its write, which decides. If the facts of the credential's latest
     * transaction allow the request, its body is read without asking the database first.
     */
    decidesInWrite?: true
  }
  interface FastifyRequest {
    /**
     * Opens a transaction as the caller: the database says who that is, and the route's rule decides
     * inside the transaction. Every handler of the scope reads and writes through it or a refinement.
     */
    readonly principalEntry: Entry<Principal>
    /** Opens a transaction as a person; a service is refused, whatever the rule says. */
    readonly entry: Entry<Caller>
    /** Opens a transaction as a person with a session, for routes whose rule needs one. */
    readonly sessionEntry: Entry<SessionCaller>
    /** The person who is asking, as the latest transaction of this request found them. */
    readonly caller: Caller
    /** The request has passed limits, origin and a credential's form; whether it may is not decided. */
    awaitsDecision: boolean
    /** Enters and decides without reading anything else; at most once a request. */
    enter(): Promise<Principal>
  }
}

/**
 * Every route of the scope needs an identity (401) and the policy's permission (403). The transaction
 * that reads or writes decides (`request.entry`). A request with a body is also checked here, so that
 * it can be refused before the body is read. Without `services` no route of the scope is for a service.
 */
export default fp<{ services?: boolean }>(
  async function authz(app, { services = false }) {
    app.decorateRequest('awaitsDecision', false)
    app.decorateRequest('principalEntry', {
      getter() {
        return principalEntryOf(this, services)
      },
    })
    app.decorateRequest('entry', {
      getter() {
        return refine(this.principalEntry, requirePerson)
      },
    })
    app.decorateRequest('sessionEntry', {
      getter() {
        return refine(this.entry, requireSession)
      },
    })
    app.decorateRequest('caller', {
      getter() {
        if (this.enteredCaller === null) throw new Error('The request has not entered yet.')
        return requirePerson(this.enteredCaller)
      },
    })
    app.decorateRequest('enter', async function enter(this: FastifyRequest) {
      return this.enteredCaller ?? app.db.read(this.principalEntry)
    })
    app.addHook('onRequest', requireIdentity)
    app.addHook('onSend', requireEntered)
    app.setErrorHandler(refuseInOrder)
  },
  { name: 'authz', fastify: '5.x', dependencies: ['session', 'credential', 'require-access'] },
)

const withoutBody = ['GET', 'HEAD']

// Hooks of every request are callbacks: a promise costs more than what most of them do.
function requireIdentity(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  if (request.credentialFault !== null) throw request.credentialFault
  if (request.credential === null) throw new Problem('unauthenticated')
  request.awaitsDecision = true
  if (withoutBody.includes(request.method) || isForeseen(request)) done()
  else request.enter().then(() => done(), done)
}

function isForeseen(request: FastifyRequest): boolean {
  const { decidesInWrite } = request.routeOptions.config
  return decidesInWrite === true && request.principalEntry.foreseen?.() != null
}

/**
 * A handler that responds without having entered has checked no permission: that is a 500. Only a
 * redirect to sign-in needs none.
 */
function requireEntered(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: DoneFuncWithErrOrRes,
): void {
  if (reply.statusCode < 400 && request.enteredCaller === null && !request.redirectedToSignIn) {
    throw new Error(`${request.method} ${request.routeOptions.url} answers without an entry.`)
  }
  done(null, payload)
}

/** @throws always: the parent's error handler sends the response */
async function refuseInOrder(error: unknown, request: FastifyRequest): Promise<never> {
  const refusal = await firstRefusal(error, request)
  if (statusOf(refusal) === 401 && request.credential !== null)
    await request.countDeadCredential?.()
  throw refusal
}

/**
 * The order of refusals: identity and permission before malformed input. A GET enters only when its
 * handler reads, so an input error makes it enter first.
 */
async function firstRefusal(error: unknown, request: FastifyRequest): Promise<unknown> {
  const isInputError = statusOf(error) >= 400 && statusOf(error) < 500
  if (!isInputError || !request.awaitsDecision) return error
  return request.enter().then(
    () => error,
    (refusal) => refusal,
  )
}

function statusOf(error: unknown): number {
  if (error instanceof Problem) return errorTable[error.code].status
  return error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
}

function principalEntryOf(request: FastifyRequest, services: boolean): Entry<Principal> {
  const { credential, method } = request
  if (credential === null) throw new Problem('unauthenticated')
  const identified = request.identify(credential)
  const { foreseen, holder } = identified
  const once = withoutBody.includes(method) ? undefined : request.once
  const enter = (caller: Principal) => {
    request.awaitsDecision = false
    request.enteredCaller = caller
    return caller
  }
  return {
    ...identified,
    once,
    endsRight: isEnding(request),
    holder: () => request.enteredCaller?.tenantId ?? holder?.() ?? '',
    admit(rows) {
      const caller = identified.admit(rows)
      request.awaitsDecision = false
      return enter(requireAllowed(request, caller, services, logRefusal))
    },
    foreseen() {
      const one = checkForeseen(foreseen?.() ?? null, (caller) =>
        requireAllowed(request, caller, services, () => {}),
      )
      if (one === null) return null
      const entered = (rows: readonly object[]) => {
        one.entered(rows)
        enter(one.facts)
      }
      return { ...one, entered }
    },
  }
}

/** Whether the rule of the route is one that ends rights. */
function isEnding({ routeOptions }: FastifyRequest): boolean {
  const { access } = routeOptions.config
  return typeof access === 'object' && endingRules.has(`${access.resource}:${access.action}`)
}

type Refused = (request: FastifyRequest, caller: Principal, reason: string, error?: unknown) => void

const logRefusal: Refused = ({ log }, { userId, serviceId }, reason, error) => {
  if (error !== undefined) log.error({ err: error }, 'the decision failed')
  log.info({ reason, ...(serviceId === null ? { userId } : { serviceId }) }, 'refused')
}

/** Only an explicit allow counts; a decision that fails is a refusal (specification). */
function requireAllowed(
  request: FastifyRequest,
  caller: Principal | null,
  services: boolean,
  refused: Refused,
): Principal {
  if (caller === null)
    throw new Problem(isBearer(request.credential) ? 'invalid-token' : 'unauthenticated')
  if (!services) requirePerson(caller)
  const { access, namesTenant } = request.routeOptions.config
  try {
    const { reason, rule } =
      typeof access === 'object'
        ? decideWithoutObject({ caller, ...access, namesTenant })
        : ({ reason: 'no-rule', rule: null } as const)
    if (reason === 'allowed') return caller
    refused(request, caller, reason)
    throw toProblem(reason, { rule })
  } catch (error) {
    if (error instanceof Problem) throw error
    refused(request, caller, 'error', error)
    throw new Problem('forbidden', { reason: 'error' })
  }
}

function requireSession(caller: Caller): SessionCaller {
  const { sessionId } = caller
  if (sessionId === null) throw toProblem('session-required')
  return { ...caller, sessionId }
}
