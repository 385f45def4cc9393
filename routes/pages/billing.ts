import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
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

const shown = '25'

// A form sends its empty fields too; they limit nothing.
const ListQuery = Type.Object(
  {
    status: Type.Optional(Type.Enum(['', ...eventStatuses])),
    type: Type.Optional(Type.String({ maxLength: 255 })),
    cursor: PageQuery.properties.cursor,
  },
  { additionalProperties: false },
)

const hidden = { hide: true } as const
const read = { resource: 'billing-event', action: 'read' } as const
const replay = { resource: 'billing-event', action: 'replay' } as const

/** What was received from the billing provider as pages, and what their buttons do. */
const billingPages: FastifyPluginAsyncTypebox = async function billingPages(app) {
  const systemDb = app.systemDb

  app.get(
    '/app/billing',
    { config: { access: read }, schema: { ...hidden, querystring: ListQuery } },
    async (request, reply) => {
      const { status = '', type = '', cursor } = request.query
      const position = { limit: shown, ...(cursor && { cursor }) }
      const page = readPage(position, receivedList.name, receivedList.forms)
      const filter = { status: status === '' ? undefined : status, type: type || undefined }
      const [counts, { data, nextCursor }] = await Promise.all([
        countByStatus(systemDb),
        listReceived(systemDb, filter, page),
      ])
      const { viewer } = request
      const shownFilter = { status, type }
      return reply.sendPage(
        billingPage({ viewer, counts, filter: shownFilter, events: data, nextCursor }),
      )
    },
  )

  app.post(
    '/app/billing/replay',
    { config: { access: replay }, schema: hidden },
    async (_request, reply) =>
      follow(reply, await createReplay(systemDb, app.queue, { status: 'dead' })),
  )

  app.get(
    '/app/billing/:id',
    { config: { access: read }, schema: { ...hidden, params: EventParams } },
    async (request, reply) => {
      const event = found(await findReceived(systemDb, request.params.id))
      return reply.sendPage(billingEventPage(event, request.viewer))
    },
  )

  app.post(
    '/app/billing/:id/replay',
    { config: { access: replay }, schema: { ...hidden, params: EventParams } },
    async (request, reply) => {
      const { id } = request.params
      const { body } = found(await findReceived(systemDb, id))
      if (body === null) throw new Problem('conflict', { detail: 'Its body is no longer kept.' })
      return follow(reply, await createReplay(systemDb, app.queue, { ids: [id] }))
    },
  )

  app.get(
    '/app/billing/replays/:id',
    { config: { access: replay }, schema: { ...hidden, params: UuidParams } },
    async (request, reply) => {
      const run = found(await findReplay(systemDb, request.params.id))
      return reply.sendLivePage(billingReplayPage(run, request.viewer))
    },
  )

  app.get(
    '/app/billing/replays/:id/events',
    {
      exposeHeadRoute: false,
      config: { access: replay },
      schema: { ...hidden, params: UuidParams },
    },
    async (request, reply) => {
      const { params, caller } = request
      found(await findReplay(systemDb, params.id))
      return reply.streamEvents(`operator ${caller.userId}`, async () => {
        const data = progressOf(found(await findReplay(systemDb, params.id)))
        return { name: 'progress', data, isLast: data.isLast }
      })
    },
  )
}

/** On to how far it has come, by GET, so that reloading it does nothing twice. */
function follow(reply: FastifyReply, { id }: Replay) {
  return reply.redirect(`/app/billing/replays/${id}`, 303)
}

export default billingPages
