import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { readPage } from '#src/http/pagination.ts'
import { found, readId } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { Id, IdParams, Line, PageOf, PageQuery, problems, Time } from '#src/http/schemas.ts'
import {
  changeOrder,
  createOrder,
  findOrder,
  listOrders,
  orderList,
  ShippingAddress,
} from '#src/resources/orders.ts'

const Order = Type.Object({
  id: Id,
  userId: Id,
  lineItems: Type.Array(
    Type.Object({
      sku: Type.String(),
      quantity: Type.Integer(),
      unitPrice: Type.Integer({ description: 'Minor units' }),
    }),
  ),
  shippingAddress: ShippingAddress,
  cardLast4: Type.String(),
  createdAt: Time,
  updatedAt: Time,
})

// So many, that the sum of a whole order stays an exact number: 100 × 10^4 × 10^9 < 2^53.
const maxLineItems = 100
const maxQuantity = 10_000
const maxUnitPrice = 1_000_000_000

const NewOrder = Type.Object(
  {
    lineItems: Type.Array(
      Type.Object(
        {
          sku: Line(100),
          quantity: Type.Integer({ minimum: 1, maximum: maxQuantity }),
          unitPrice: Type.Integer({
            minimum: 0,
            maximum: maxUnitPrice,
            description: 'Minor units',
          }),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: maxLineItems },
    ),
    shippingAddress: ShippingAddress,
    cardLast4: Type.String({ pattern: '^[0-9]{4}$' }),
  },
  { additionalProperties: false },
)

const OrderChange = Type.Object(
  { shippingAddress: ShippingAddress },
  { additionalProperties: false },
)

/** Orders belong to the person who placed them: id AND owner, in the query and in the database. */
const orders: FastifyPluginAsyncTypebox = async function orders(app) {
  app.get(
    '/orders',
    {
      config: { access: { resource: 'order', action: 'read' } },
      schema: {
        tags: ['orders'],
        summary: 'Your orders in all your tenants, newest first',
        querystring: PageQuery,
        response: { 200: PageOf(Order), ...problems(400, 401, 403, 429, 503) },
      },
    },
    async (request) => {
      const scope = request.ownerScope
      const page = readPage(request.query, orderList.name, orderList.forms)
      return app.db.read(scope, (tx) => listOrders(tx, scope, page))
    },
  )

  app.post(
    '/orders',
    {
      config: { access: { resource: 'order', action: 'create' } },
      schema: {
        tags: ['orders'],
        summary: 'Place an order',
        description: 'It is yours, and placed in the tenant you are in.',
        body: NewOrder,
        response: { 201: Order, ...problems(400, 401, 403, 429, 503) },
      },
    },
    async (request, reply) => {
      const { userId, tenantId } = request.ownerScope
      if (tenantId === undefined)
        throw new Problem('forbidden', { detail: 'You are in no tenant.' })
      const scope = { userId, tenantId }
      const now = app.clock.now()
      const order = await app.db.write(scope, (tx) => createOrder(tx, scope, request.body, now))
      return reply.code(201).send(order)
    },
  )

  app.get(
    '/orders/:id',
    {
      config: { access: { resource: 'order', action: 'read' } },
      schema: {
        tags: ['orders'],
        summary: 'Read one of your orders',
        params: IdParams,
        response: { 200: Order, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request) => {
      const scope = request.ownerScope
      const id = readId(request.params.id)
      return found(await findOrder(app.db, scope, id))
    },
  )

  app.patch(
    '/orders/:id',
    {
      config: { access: { resource: 'order', action: 'update' } },
      schema: {
        tags: ['orders'],
        summary: 'Change where one of your orders is shipped to',
        params: IdParams,
        body: OrderChange,
        response: { 200: Order, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request) => {
      const scope = request.ownerScope
      const id = readId(request.params.id)
      const now = app.clock.now()
      return found(await app.db.write(scope, (tx) => changeOrder(tx, scope, id, request.body, now)))
    },
  )
}

export default orders
