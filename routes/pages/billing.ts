import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import {
  countByStatus,
  EventParams,
  eventStatuses,
  findReceived,
  listReceived,
  receivedList,
} from '#src/billing/events.ts'
import { createReplay, findReplay, type Replay } from '#src/billing/replays.ts'
import { readPage } from '#src/http/pagination.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { PageQuery, UuidParams } from '#src/http/schemas.ts'
import { billingEventPage, billingPage, billingReplayPage, progressOf } from '#src/pages/billing.ts'

const pageSize = '25'

// A form also sends its empty fields; an empty field is no filter.
const ListQuery = Type.Object(
  {
    status: Type.Optional(Type.Enum(['', ...eventStatuses])),
    type: Type.Optional(Type.String({ maxLength: 255 })),
    cursor: PageQuery.properties.cursor,
  },
  { additionalProperties: false },
)

type EventRequest = FastifyRequest<{ Params: Static<typeof EventParams> }>
type ReplayRequest = FastifyRequest<{ Params: Static<typeof UuidParams> }>

const hide = true
const read = { access: { resource: 'billing-event', action: 'read' } } as const
const replay = { access: { resource: 'billing-event', action: 'replay' } } as const
const event = { hide, params: EventParams }
const run = { hide, params: UuidParams }

/** Pages of received billing events and their replays, for operators. */
const billing: FastifyPluginAsyncTypebox = async function billing(app) {
  app.get('/app/billing', { config: read, schema: { hide, querystring: ListQuery } }, showEvents)
  app.get('/app/billing/:id', { config: read, schema: event }, showEvent)
  app.post('/app/billing/replay', { config: replay, schema: { hide } }, replayDeadEvents)
  app.post('/app/billing/:id/replay', { config: replay, schema: event }, replayEvent)
  app.get('/app/billing/replays/:id', { config: replay, schema: run }, showReplay)
  app.get(
    '/app/billing/replays/:id/events',
    { config: replay, schema: run, exposeHeadRoute: false },
    streamReplay,
  )
}

async function showEvents(
  this: FastifyInstance,
  request: FastifyRequest<{ Querystring: Static<typeof ListQuery> }>,
  reply: FastifyReply,
) {
  const { systemDb } = this
  const { query, viewer } = request
  const { status = '', type = '', cursor } = query
  const part = { limit: pageSize, ...(cursor && { cursor }) }
  const page = readPage(part, receivedList.name, receivedList.forms)
  const filter = { status: status === '' ? undefined : status, type: type || undefined }
  const [counts, { data, nextCursor }] = await Promise.all([
    countByStatus(systemDb),
    listReceived(systemDb, filter, page),
  ])
  return reply.sendPage(
    billingPage({ viewer, counts, filter: { status, type }, events: data, nextCursor }),
  )
}

async function showEvent(this: FastifyInstance, request: EventRequest, reply: FastifyReply) {
  const event = found(await findReceived(this.systemDb, request.params.id))
  return reply.sendPage(billingEventPage(event, request.viewer))
}

async function replayDeadEvents(
  this: FastifyInstance,
  _request: FastifyRequest,
  reply: FastifyReply,
) {
  return redirect(reply, await createReplay(this.systemDb, this.queue, { status: 'dead' }))
}

async function replayEvent(this: FastifyInstance, request: EventRequest, reply: FastifyReply) {
  const { id } = request.params
  const { body } = found(await findReceived(this.systemDb, id))
  if (body === null) {
    throw new Problem('conflict', { detail: 'The body of this event is no longer stored.' })
  }
  return redirect(reply, await createReplay(this.systemDb, this.queue, { ids: [id] }))
}

async function showReplay(this: FastifyInstance, request: ReplayRequest, reply: FastifyReply) {
  const replay = found(await findReplay(this.systemDb, request.params.id))
  return reply.sendLivePage(billingReplayPage(replay, request.viewer))
}

async function streamReplay(this: FastifyInstance, request: ReplayRequest, reply: FastifyReply) {
  const { params, caller } = request
  const read = async () => found(await findReplay(this.systemDb, params.id))
  await read()
  return reply.streamEvents(`operator ${caller.userId}`, async () => {
    const data = progressOf(await read())
    return { name: 'progress', data, isLast: data.isLast }
  })
}

/** Post/Redirect/Get, so that a reload does not repeat the action. */
function redirect(reply: FastifyReply, { id }: Replay) {
  return reply.redirect(`/app/billing/replays/${id}`, 303)
}

export default billing
