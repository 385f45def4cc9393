import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { readList } from '#src/http/lists/pagination.ts'
import { CreatedRange, SortBy } from '#src/http/lists/query.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { NoBody, PageOf, PageQuery, problems, UuidParams } from '#src/http/schemas.ts'
import { findEndpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { disabledHint, EventTypeName } from '#src/webhooks/endpoints/schemas.ts'
import {
  countDeliveries,
  countedDeliveries,
  deliveryList,
  findDelivery,
  listDeliveries,
} from '#src/webhooks/history/deliveries.ts'
import { searchedDeliveries } from '#src/webhooks/history/filter.ts'
import { replayDelivery } from '#src/webhooks/history/replays.ts'
import {
  Delivery,
  DeliveryStatusName,
  EventIdFilter,
  HttpStatusFilter,
} from '#src/webhooks/history/schemas.ts'

const filters = {
  ...CreatedRange,
  status: Type.Optional(DeliveryStatusName),
  eventType: Type.Optional(EventTypeName),
  eventId: Type.Optional(EventIdFilter),
  httpStatus: Type.Optional(HttpStatusFilter),
}

const DeliveryQuery = Type.Object(
  { ...PageQuery.properties, ...filters, sort: SortBy('createdAt') },
  { additionalProperties: false },
)

const CountQuery = Type.Object(filters, { additionalProperties: false })
const Count = Type.Object(
  {
    count: Type.Integer({ minimum: 0 }),
    isPartial: Type.Boolean({
      description: `The time range has more than the ${countedDeliveries.toLocaleString('en-GB')} deliveries that are read, the newest ones: there may be more than \`count\``,
    }),
  },
  { title: 'DeliveryCount' },
)

const searched = `With \`status\`, \`eventType\` or an \`httpStatus\` of 2xx only the newest ${searchedDeliveries.toLocaleString('en-GB')} deliveries of the time range are searched.`

const tags = ['webhook deliveries']

/** Deliveries of events to endpoints. */
const deliveries: FastifyPluginAsyncTypebox = async function deliveries(app) {
  app.get(
    '/webhook-endpoints/:id/deliveries',
    {
      config: { access: { resource: 'delivery', action: 'read' } },
      schema: {
        operationId: 'listDeliveries',
        tags,
        summary: 'List the deliveries to an endpoint, newest first, with their attempts',
        description: searched,
        params: UuidParams,
        querystring: DeliveryQuery,
        response: { 200: PageOf(Delivery) },
      },
    },
    async (request) => {
      const { id } = request.params
      const { page, filter } = readList(request.query, deliveryList)
      return found(
        await app.db.read(request.tenantPrincipalEntry, (tx, caller) =>
          listDeliveries(tx, caller, id, filter, page),
        ),
      )
    },
  )

  app.get(
    '/webhook-endpoints/:id/deliveries/count',
    {
      config: { access: { resource: 'delivery', action: 'read' } },
      schema: {
        operationId: 'countDeliveries',
        tags,
        summary: 'Count the deliveries to an endpoint, as before a replay of them',
        params: UuidParams,
        querystring: CountQuery,
        response: { 200: Count },
      },
    },
    async (request) => {
      const { params, query, tenantPrincipalEntry } = request
      return app.db.read(tenantPrincipalEntry, async (tx, caller) => {
        found(await findEndpoint(tx, caller, params.id))
        return countDeliveries(tx, caller, params.id, query)
      })
    },
  )

  app.get(
    '/deliveries/:id',
    {
      config: { access: { resource: 'delivery', action: 'read' } },
      schema: {
        operationId: 'getDelivery',
        tags,
        summary: 'Read a delivery with its attempts',
        params: UuidParams,
        response: { 200: Delivery },
      },
    },
    async (request) => {
      const { id } = request.params
      return found(
        await app.db.read(request.tenantPrincipalEntry, (tx, caller) =>
          findDelivery(tx, caller, id),
        ),
      )
    },
  )

  app.post(
    '/deliveries/:id/replay',
    {
      config: { idempotencyKey: true, access: { resource: 'delivery', action: 'replay' } },
      schema: {
        operationId: 'replayDelivery',
        tags,
        summary: 'Send a delivery again, with a new series of attempts',
        description: `Sends the same event with the same id, whatever its status. A second request before the first attempt changes nothing. ${disabledHint} (409).`,
        params: UuidParams,
        body: NoBody,
        response: { 202: Delivery, ...problems('conflict', 'quota-exceeded') },
      },
    },
    async (request, reply) => {
      const { params, clientInfo } = request
      const now = app.clock.now()
      const delivery = found(
        await app.db.write(request.tenantPrincipalEntry, (tx, caller) =>
          replayDelivery(tx, { ...caller, clientInfo }, params.id, now),
        ),
      )
      if (delivery === 'disabled') throw new Problem('conflict', { detail: disabledHint })
      return reply.code(202).header('location', `/deliveries/${delivery.id}`).send(delivery)
    },
  )
}

export default deliveries
