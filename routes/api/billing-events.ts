import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import {
  EventParams,
  findReceived,
  listReceived,
  receivedList,
  Status,
} from '#src/billing/events.ts'
import { readPage } from '#src/http/pagination.ts'
import { found } from '#src/http/params.ts'
import { Nullable, PageOf, PageQuery, problems, Time } from '#src/http/schemas.ts'

const Received = Type.Object({
  id: Type.String(),
  type: Type.String(),
  receivedAt: Time,
  status: Status,
  attempts: Type.Integer(),
  lastError: Nullable(Type.String()),
  outcome: Nullable(
    Type.String({
      description:
        '`processed`; `stale` (a newer state of the object was applied before); `gone` (the provider no longer has the object)',
    }),
  ),
  processedAt: Nullable(Time),
  otherBodies: Type.Integer({
    description: 'Copies of the id that came with another body; the first body stayed',
  }),
})

const listQuery = Type.Object(
  {
    ...PageQuery.properties,
    status: Type.Optional(Status),
    type: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    from: Type.Optional(Time),
    to: Type.Optional(Time),
  },
  { additionalProperties: false },
)

/** What was received from the billing provider, for those who run the service. */
const billingEvents: FastifyPluginAsyncTypebox = async function billingEvents(app) {
  app.get(
    '/billing/events',
    {
      config: { access: { resource: 'billing-event', action: 'read' } },
      schema: {
        tags: ['billing events'],
        summary: 'List received billing events, newest first',
        description: 'For operators. Look for a rare `type` within `from` and `to`.',
        querystring: listQuery,
        response: {
          200: PageOf(Received),
          ...problems(400, 401, 403, 429, 503),
        },
      },
    },
    async (request) => {
      const { limit, cursor, ...filter } = request.query
      const given = { ...(limit && { limit }), ...(cursor && { cursor }) }
      const page = readPage(given, receivedList.name, receivedList.forms)
      return listReceived(app.systemDb, filter, page)
    },
  )

  app.get(
    '/billing/events/:id',
    {
      config: { access: { resource: 'billing-event', action: 'read' } },
      schema: {
        tags: ['billing events'],
        summary: 'Read a received billing event with its raw body',
        description: 'For operators. `body` is null once it is no longer kept.',
        params: EventParams,
        response: {
          200: Type.Object({ ...Received.properties, body: Nullable(Type.String()) }),
          ...problems(400, 401, 403, 404, 429, 503),
        },
      },
    },
    async (request) => found(await findReceived(app.systemDb, request.params.id)),
  )
}

export default billingEvents
