import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { found } from '#src/http/params.ts'
import { OptionalLine } from '#src/http/schemas.ts'
import { listPageOf } from '#src/pages/kit/list-page.ts'
import { eventListPage, eventPage } from '#src/pages/webhooks/events.ts'
import { listAppTypeNames } from '#src/webhooks/events/app-types.ts'
import {
  countRecentEvents,
  findEvent,
  listRecentEvents,
  recentEventList,
} from '#src/webhooks/events/feed.ts'
import { FeedQuery } from '#src/webhooks/history/actions.ts'
import { countDeliveriesOf, listDeliveriesOf } from '#src/webhooks/history/deliveries.ts'

const { type, from, to } = FeedQuery.properties
const { query, querystring, read } = listPageOf(
  Type.Object({ search: Type.Optional(OptionalLine(68)), type, from, to }),
)
const Params = Type.Object(
  { id: Type.String({ pattern: '^[\\w-]{1,68}$' }) },
  { additionalProperties: false },
)

const config = { access: { resource: 'event', action: 'read' } } as const

/** Pages of the tenant's events, for those who manage it. */
const events: FastifyPluginAsyncTypebox = async function events(app) {
  app.get('/events', { config, schema: { hide: true, querystring } }, async (request, reply) => {
    const { page, filter, used } = read(request.query, recentEventList)
    const { list, count, appTypes, deliveries } = await app.db.read(
      request.tenantPrincipalEntry,
      async (tx, caller) => {
        const [list, count, appTypes] = await Promise.all([
          listRecentEvents(tx, caller, page, filter),
          countRecentEvents(tx, caller, filter),
          listAppTypeNames(tx),
        ])
        const ids = list.data.map(({ id }) => id)
        return { list, count, appTypes, deliveries: await countDeliveriesOf(tx, caller, ids) }
      },
    )
    const { data: events, ...cursors } = list
    const { viewer } = request
    return reply.sendPage(
      eventListPage({ viewer, events, deliveries, cursors, count, query, used, appTypes }),
    )
  })
  app.get(
    '/events/:id',
    { config, schema: { hide: true, params: Params } },
    async (request, reply) => {
      const { id } = request.params
      const { event, deliveries } = await app.db.read(
        request.tenantPrincipalEntry,
        async (tx, caller) => ({
          event: found(await findEvent(tx, caller, id)),
          deliveries: await listDeliveriesOf(tx, caller, id),
        }),
      )
      return reply.sendPage(eventPage({ viewer: request.viewer, event, deliveries }))
    },
  )
}

export default events
