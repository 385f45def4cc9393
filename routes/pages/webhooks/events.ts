import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { readList } from '#src/http/lists/pagination.ts'
import { found } from '#src/http/params.ts'
import { CursorQuery } from '#src/http/schemas.ts'
import { eventListPage, eventPage } from '#src/pages/webhooks/events.ts'
import { findEvent, listRecentEvents, recentEventList } from '#src/webhooks/events/feed.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import { listDeliveriesOf } from '#src/webhooks/history/deliveries.ts'

const pageSize = '25'
const Query = Type.Object(
  { ...CursorQuery.properties, type: Type.Optional(Type.Enum(['', ...eventTypes])) },
  { additionalProperties: false },
)
const Params = Type.Object(
  { id: Type.String({ pattern: '^msg_[\\w-]{1,64}$' }) },
  { additionalProperties: false },
)

const config = { access: { resource: 'event', action: 'read' } } as const

/** Pages of the tenant's events, for those who manage it. */
const events: FastifyPluginAsyncTypebox = async function events(app) {
  app.get(
    '/app/events',
    { config, schema: { hide: true, querystring: Query } },
    async (request, reply) => {
      const { type = '', cursor } = request.query
      const { page, filter } = readList(
        { limit: pageSize, ...(cursor !== undefined && { cursor }), ...(type !== '' && { type }) },
        recentEventList,
      )
      const { data, ...cursors } = await app.db.read(request.tenantEntry, (tx, caller) =>
        listRecentEvents(tx, caller, page, filter),
      )
      return reply.sendPage(eventListPage({ viewer: request.viewer, events: data, cursors, type }))
    },
  )
  app.get(
    '/app/events/:id',
    { config, schema: { hide: true, params: Params } },
    async (request, reply) => {
      const { id } = request.params
      const { event, deliveries } = await app.db.read(request.tenantEntry, async (tx, caller) => ({
        event: found(await findEvent(tx, caller, id)),
        deliveries: await listDeliveriesOf(tx, caller, id),
      }))
      return reply.sendPage(eventPage({ viewer: request.viewer, event, deliveries }))
    },
  )
}

export default events
