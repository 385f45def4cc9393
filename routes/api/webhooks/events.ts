import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { readList } from '#src/http/lists/pagination.ts'
import { CreatedRange } from '#src/http/lists/query.ts'
import { PageOf, PageQuery, Time } from '#src/http/schemas.ts'
import { EventTypeName } from '#src/webhooks/endpoints/schemas.ts'
import { eventFeed, readFeed } from '#src/webhooks/events/feed.ts'

const SentEvent = Type.Object(
  {
    id: Type.String({ description: 'The same as in the delivery' }),
    type: Type.String(),
    createdAt: Time,
    data: Type.Unknown(),
  },
  { title: 'Event' },
)

const { limit, cursor } = PageQuery.properties
const FeedQuery = Type.Object(
  { limit, after: cursor, ...CreatedRange, type: Type.Optional(EventTypeName) },
  { additionalProperties: false },
)

/** All events of a tenant, for a receiver that has missed deliveries. */
const events: FastifyPluginAsyncTypebox = async function events(app) {
  app.get(
    '/events',
    {
      config: { access: { resource: 'event', action: 'read' } },
      schema: {
        operationId: 'listEvents',
        tags: ['events'],
        summary: 'List the events of your tenant in order, after a cursor',
        description:
          'Every event as it is sent, with the same id, whether an endpoint has chosen its type or not. `nextCursor` points after the last event of the page: store it and pass it as `after`, now or later. It is null if there are no new events; your last cursor stays valid. An event appears once all transactions that began before it have ended, so that none is skipped. Events are kept for 90 days, without an endpoint for 30 days, unless the operator has set other limits.',
        querystring: FeedQuery,
        response: { 200: PageOf(SentEvent) },
      },
    },
    async (request) => {
      const { after, ...query } = request.query
      const asked = after === undefined ? query : { ...query, cursor: after }
      const { page, filter } = readList(asked, eventFeed)
      return app.db.read(request.tenantPrincipalEntry, (tx, caller) =>
        readFeed(tx, caller, page, filter),
      )
    },
  )
}

export default events
