import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { readPage } from '#src/http/pagination.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { NoBody, PageOf, PageQuery, problems, UuidParams } from '#src/http/schemas.ts'
import { deliveryList, findDelivery, listDeliveries } from '#src/webhooks/delivery/deliveries.ts'
import { replayDelivery } from '#src/webhooks/delivery/replays.ts'
import {
  Delivery,
  DeliveryStatusName,
  disabledHint,
  EventTypeName,
} from '#src/webhooks/endpoints/schemas.ts'

const DeliveryQuery = Type.Object(
  {
    ...PageQuery.properties,
    status: Type.Optional(DeliveryStatusName),
    eventType: Type.Optional(EventTypeName),
  },
  { additionalProperties: false },
)

const tags = ['webhook deliveries']

/** What became of each event at each endpoint. */
const deliveries: FastifyPluginAsyncTypebox = async function deliveries(app) {
  app.get(
    '/webhook-endpoints/:id/deliveries',
    {
      config: { access: { resource: 'delivery', action: 'read' } },
      schema: {
        tags,
        summary: 'Deliveries to an endpoint, newest first, with every attempt',
        params: UuidParams,
        querystring: DeliveryQuery,
        response: { 200: PageOf(Delivery), ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request) => {
      const scope = request.tenantScope
      const { id } = request.params
      const { status, eventType, ...query } = request.query
      const page = readPage(query, deliveryList.name, deliveryList.forms)
      const filter = { status, eventType }
      return found(await app.db.read(scope, (tx) => listDeliveries(tx, scope, id, filter, page)))
    },
  )

  app.get(
    '/deliveries/:id',
    {
      config: { access: { resource: 'delivery', action: 'read' } },
      schema: {
        tags,
        summary: 'One delivery with every attempt',
        params: UuidParams,
        response: { 200: Delivery, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request) => {
      const scope = request.tenantScope
      const { id } = request.params
      return found(await app.db.read(scope, (tx) => findDelivery(tx, scope, id)))
    },
  )

  app.post(
    '/deliveries/:id/replay',
    {
      config: { access: { resource: 'delivery', action: 'replay' } },
      schema: {
        tags,
        summary: 'Send a delivery again, with attempts of its own',
        description: `The same event with the same id, whatever became of it before. Asked for twice before the first attempt is made, it is one. ${disabledHint} (409).`,
        params: UuidParams,
        body: NoBody,
        response: { 202: Delivery, ...problems(400, 401, 403, 404, 409, 429, 503) },
      },
    },
    async (request, reply) => {
      const { params, actor: by } = request
      const now = app.clock.now()
      const delivery = found(await app.db.write(by, (tx) => replayDelivery(tx, by, params.id, now)))
      if (delivery === 'disabled') throw new Problem('conflict', { detail: disabledHint })
      return reply.code(202).send(delivery)
    },
  )
}

export default deliveries
