import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { billingEventActions, billingReplayActions } from '#src/billing/actions.ts'
import { isCustomerFree } from '#src/billing/customers.ts'
import {
  countByStatus,
  countReceived,
  EventParams,
  findReceived,
  listReceived,
  measureAges,
  type ReceivedEvent,
  receivedList,
} from '#src/billing/events.ts'
import type { BillingProvider } from '#src/billing/providers/provider.ts'
import { findReplay, type Replay } from '#src/billing/replays.ts'
import { customerIn } from '#src/billing/waiting.ts'
import type { Tx } from '#src/db/database.ts'
import { found } from '#src/http/params.ts'
import { UuidParams } from '#src/http/schemas.ts'
import { findLedgerState } from '#src/ledger/last-check.ts'
import {
  billingEventPage,
  billingPage,
  billingReplayPage,
  dismissForm,
  progressOf,
} from '#src/pages/billing/events.ts'
import { SubmissionForm } from '#src/pages/kit/form-submission.ts'
import { listPageOf } from '#src/pages/kit/list-page.ts'

const received = listPageOf(billingEventActions.list.query ?? Type.Object({}))

type Options = { provider: BillingProvider }
type ReplayRequest = FastifyRequest<{ Params: Static<typeof UuidParams> }>

const hide = true
const read = { access: { resource: 'billing-event', action: 'read' } } as const
const replay = { access: { resource: 'billing-event', action: 'replay' } } as const
const event = { hide, params: EventParams }
const run = { hide, params: UuidParams }

const entryOf = ({ entry }: FastifyRequest) => entry

const inSession = ({ sessionEntry }: FastifyRequest) => sessionEntry

/** Pages of received billing events and their replays, for operators. */
const billing: FastifyPluginAsyncTypebox<Options> = async function billing(app, { provider }) {
  app.get(
    '/app/billing',
    { config: read, schema: { hide, querystring: received.querystring } },
    async (request, reply) => {
      const { page, filter, used } = received.read(request.query, receivedList)
      const shown = await app.db.read(request.entry, async (tx) => {
        const [counts, ages, listed, count, ledger] = await Promise.all([
          countByStatus(tx),
          measureAges(tx),
          listReceived(tx, filter, page),
          countReceived(tx, filter),
          findLedgerState(tx),
        ])
        const { data: events, ...cursors } = listed
        return { counts, ages, events, cursors, count, ledger }
      })
      const { viewer } = request
      return reply.sendPage(billingPage({ viewer, query: received.query, used, ...shown }))
    },
  )
  app.get('/app/billing/:id', { config: read, schema: event }, async (request, reply) => {
    const { sessionEntry, params } = request
    const shown = await app.db.read(sessionEntry, async (tx) => {
      const event = found(await findReceived(tx, params.id))
      return { event, unlinked: await findUnlinked(tx, provider, event) }
    })
    return reply.sendPage(billingEventPage({ viewer: request.viewer, ...shown }))
  })
  const { one, many } = billingReplayActions(app.queue)
  const replayed = { entryOf, to: '/app/billing/replays/:id', fields: SubmissionForm }
  app.form('/app/billing/replay', many, { ...replayed, read: () => ({ status: 'dead' as const }) })
  app.form('/app/billing/:id/replay', one, replayed)
  app.form('/app/billing/:id/dismiss', billingEventActions.dismiss, {
    entryOf: inSession,
    to: '/app/billing/:id',
    fields: dismissForm.schema,
  })
  app.get('/app/billing/replays/:id', { config: replay, schema: run }, async (request, reply) => {
    const replay = await readReplay(request)
    return reply.sendLivePage(billingReplayPage(replay, request.viewer))
  })
  // Every read enters again, so the stream ends with the session or the operator's right.
  app.get(
    '/app/billing/replays/:id/events',
    { config: replay, schema: run, exposeHeadRoute: false },
    async (request, reply) => {
      await readReplay(request)
      return reply.streamEvents(`operator ${request.caller.userId}`, async () => {
        const data = progressOf(await readReplay(request))
        return { name: 'progress', data, isLast: data.isLast }
      })
    },
  )
}

/** Why an event waits or has failed may be that no user has its customer. */
async function findUnlinked(
  tx: Tx,
  provider: BillingProvider,
  { id, status, customer, body }: ReceivedEvent & { body: string | null },
): Promise<string | null> {
  if (status === 'unlinked' || body === null) return customer
  if (status !== 'failed' && status !== 'dead') return null
  const named = customerIn(provider, id, body)
  return named !== null && (await isCustomerFree(tx, named)) ? named : null
}

async function readReplay({ server, entry, params }: ReplayRequest): Promise<Replay> {
  return found(await server.db.read(entry, (tx) => findReplay(tx, params.id)))
}

export default billing
