import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { isCustomerFree } from '#src/billing/customers.ts'
import { dismissEvent } from '#src/billing/dismiss.ts'
import {
  countByStatus,
  EventParams,
  EventType,
  eventStatuses,
  findReceived,
  forwardingStatuses,
  listReceived,
  measureAges,
  type ReceivedEvent,
  receivedList,
} from '#src/billing/events.ts'
import type { BillingProvider } from '#src/billing/providers/provider.ts'
import { createReplay, findReplay, type Replay } from '#src/billing/replays.ts'
import { customerIn } from '#src/billing/waiting.ts'
import type { Tx } from '#src/db/database.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { PageQuery, UuidParams } from '#src/http/schemas.ts'
import { findLedgerState } from '#src/ledger/last-check.ts'
import {
  billingEventPage,
  billingPage,
  billingReplayPage,
  dismissForm,
  progressOf,
} from '#src/pages/billing/events.ts'
import { SubmissionForm } from '#src/pages/kit/form-submission.ts'

const pageSize = '25'

// A form also sends its empty fields; an empty field is no filter.
const ListQuery = Type.Object(
  {
    status: Type.Optional(Type.Enum(['', ...eventStatuses])),
    type: Type.Optional(Type.Union([Type.Literal(''), EventType])),
    forwarding: Type.Optional(Type.Enum(['', ...forwardingStatuses])),
    cursor: PageQuery.properties.cursor,
  },
  { additionalProperties: false },
)

type Options = { provider: BillingProvider }
type ReplayRequest = FastifyRequest<{ Params: Static<typeof UuidParams> }>

const hide = true
const read = { access: { resource: 'billing-event', action: 'read' } } as const
const replay = { access: { resource: 'billing-event', action: 'replay' } } as const
const update = { access: { resource: 'billing-event', action: 'update' } } as const
const event = { hide, params: EventParams }
const run = { hide, params: UuidParams }

/** Pages of received billing events and their replays, for operators. */
const billing: FastifyPluginAsyncTypebox<Options> = async function billing(app, { provider }) {
  app.get(
    '/app/billing',
    { config: read, schema: { hide, querystring: ListQuery } },
    async (request, reply) => {
      const { entry, query } = request
      const { status = '', type = '', forwarding = '', cursor } = query
      const part = { limit: pageSize, ...(cursor && { cursor }) }
      const page = readPage(part, receivedList.name, receivedList.forms)
      const filter = {
        status: status || undefined,
        type: type || undefined,
        forwarding: forwarding || undefined,
      }
      const shown = await app.db.read(entry, async (tx) => {
        const [counts, ages, { data: events, nextCursor }, ledger] = await Promise.all([
          countByStatus(tx),
          measureAges(tx),
          listReceived(tx, filter, page),
          findLedgerState(tx),
        ])
        return { counts, ages, events, nextCursor, ledger }
      })
      const { viewer } = request
      return reply.sendPage(billingPage({ viewer, filter: { status, type, forwarding }, ...shown }))
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
  app.post(
    '/app/billing/replay',
    { config: replay, schema: { hide, body: SubmissionForm } },
    async (request, reply) => {
      const location = await app.db.write(request.entry, (tx, caller) =>
        request.submitOnce(tx, caller, async () =>
          resultOf(await createReplay(tx, app.queue, { status: 'dead' })),
        ),
      )
      return reply.redirect(location, 303)
    },
  )
  app.post(
    '/app/billing/:id/replay',
    { config: replay, schema: { ...event, body: SubmissionForm } },
    async (request, reply) => {
      const { id } = request.params
      const location = await app.db.write(request.entry, (tx, caller) =>
        request.submitOnce(tx, caller, async () => {
          const { body } = found(await findReceived(tx, id))
          if (body === null) {
            throw new Problem('conflict', { detail: 'The body of this event is no longer stored.' })
          }
          return resultOf(await createReplay(tx, app.queue, { ids: [id] }))
        }),
      )
      return reply.redirect(location, 303)
    },
  )
  app.post(
    '/app/billing/:id/dismiss',
    { config: update, schema: { ...event, body: dismissForm.schema } },
    async (request, reply) => {
      const { sessionEntry, clientInfo, params, body } = request
      const location = await app.db.write(sessionEntry, (tx, operator) =>
        request.submitOnce(tx, operator, async () => {
          const dismissal = { eventId: params.id, reason: body.reason }
          await dismissEvent(tx, operator, dismissal, clientInfo)
          return { path: `/app/billing/${encodeURIComponent(params.id)}` }
        }),
      )
      return reply.redirect(location, 303)
    },
  )
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

function resultOf({ id }: Replay) {
  return { path: `/app/billing/replays/${id}` }
}

async function readReplay({ server, entry, params }: ReplayRequest): Promise<Replay> {
  return found(await server.db.read(entry, (tx) => findReplay(tx, params.id)))
}

export default billing
