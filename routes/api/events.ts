import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { readPage } from '#src/http/pagination.ts'
import { Nullable, PageQuery, problems, Time } from '#src/http/schemas.ts'
import { eventFeed, readFeed } from '#src/webhooks/events/feed.ts'

const SentEvent = Type.Object({
  id: Type.String({ description: 'The same as in the delivery' }),
  type: Type.String(),
  createdAt: Time,
  data: Type.Unknown(),
})

const { limit, cursor } = PageQuery.properties
const FeedQuery = Type.Object({ limit, after: cursor }, { additionalProperties: false })

/** For whoever missed deliveries: what was sent, or would have been. */
const events: FastifyPluginAsyncTypebox = async function events(app) {
  app.get(
    '/events',
    {
      config: { access: { resource: 'event', action: 'read' } },
      schema: {
        tags: ['webhook endpoints'],
        summary: 'The events of your tenant in order, from a cursor on',
        description:
          'Every event, whether an endpoint wanted it or not, as it is sent and with the same id. `nextCursor` stands behind the last event of the page: keep it and ask again with `after`, now or later. It is null when there is nothing new; then the cursor you have stays good. An event appears as soon as no transaction that began before it is under way, so none is ever skipped.',
        querystring: FeedQuery,
        response: {
          200: Type.Object({ data: Type.Array(SentEvent), nextCursor: Nullable(Type.String()) }),
          ...problems(400, 401, 403, 429, 503),
        },
      },
    },
    async (request) => {
      const scope = request.tenantScope
      const { after, ...query } = request.query
      const asked = after === undefined ? query : { ...query, cursor: after }
      const page = readPage(asked, eventFeed.name, eventFeed.forms)
      return app.db.read(scope, (tx) => readFeed(tx, scope, page))
    },
  )
}

export default events
