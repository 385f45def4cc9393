import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { keyOf } from '#src/auth/sessions/latest-rows.ts'
import { createTenantShares } from '#src/db/connections/tenant-share.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The page has no pages, and reads as much as a list. */
    takesTurn?: true
  }
  interface FastifyRequest {
    /** Ends the turn of a list; null outside of one. */
    leaveTurn: (() => void) | null
  }
}

// A page has up to 1 MiB of rows: about 10 ms of the event loop, then of a thread that compresses it.
const limits = { waiting: 128, waitMs: 5_000, what: 'turns of lists' }
const perCredential = { ...limits, places: 1, whose: 'of your session or token' }
const perTenant = { ...limits, places: 2, whose: 'of your tenant' }
const ofAll = { ...limits, places: 4, waiting: 4_096, whose: 'of all tenants' }

/**
 * Lists take turns, from the first read to the compressed response, because a large page uses the event loop
 * and the threads of everybody. So a burst of one token makes its own lists wait, and few of others. Whoever
 * enters the last queue has a turn of the credential and of the tenant, so no tenant is in it more than twice.
 */
export default fp(
  async function listTurns(app) {
    const withinCredential = createTenantShares(perCredential)
    const withinTenant = createTenantShares(perTenant)
    const amongAll = createTenantShares(ofAll)

    app.decorateRequest('leaveTurn', null)
    app.addHook('onRoute', function giveTurns(route: RouteOptions) {
      if (!isList(route)) return
      route.preHandler = [waitForTurn, ...[route.preHandler ?? []].flat()]
      route.onSend = [...[route.onSend ?? []].flat(), leaveAfterSerialization]
      route.onResponse = [leaveAfterFailure, ...[route.onResponse ?? []].flat()]
    })

    function waitForTurn(
      request: FastifyRequest,
      _reply: FastifyReply,
      done: HookHandlerDoneFunction,
    ): void {
      const { credential, principalEntry } = request
      if (credential === null) {
        done()
        return
      }
      const turn = () =>
        new Promise<void>((leave) => {
          request.leaveTurn = leave
          done()
        })
      const ofTenant = () => withinTenant(principalEntry.holder?.(), () => amongAll('all', turn))
      withinCredential(keyOf(credential.hash), ofTenant).catch(done)
    }
  },
  // After compression, so that a turn ends with it.
  { name: 'list-turns', fastify: '5.x', dependencies: ['compression'] },
)

/** A list has pages, or says that it is one. */
function isList({ config, schema }: RouteOptions): boolean {
  const { properties = {} } = Object(schema?.querystring)
  const hasPages = Object.hasOwn(properties, 'cursor') || Object.hasOwn(properties, 'after')
  return (hasPages || config?.takesTurn === true) && typeof config?.access === 'object'
}

async function leaveAfterSerialization(request: FastifyRequest): Promise<void> {
  request.leaveTurn?.()
}

/** Of a response that was not sent. */
async function leaveAfterFailure(request: FastifyRequest): Promise<void> {
  request.leaveTurn?.()
}
