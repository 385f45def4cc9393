import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { readList } from '#src/http/lists/pagination.ts'
import { CreatedRange, SortBy } from '#src/http/lists/query.ts'
import { found, readId } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { IdParams, Line, PageOf, PageQuery, problems, Uuid } from '#src/http/schemas.ts'
import {
  changeOrder,
  createOrder,
  findOrder,
  listOrders,
  lockOrder,
  Order,
  orderList,
  ShippingAddress,
} from '#src/resources/orders.ts'

// The total of an order stays an exact number: 100 × 10^4 × 10^9 < 2^53.
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
        { title: 'NewLineItem', additionalProperties: false },
      ),
      { minItems: 1, maxItems: maxLineItems },
    ),
    shippingAddress: ShippingAddress,
    cardLast4: Type.String({ pattern: '^[0-9]{4}$' }),
  },
  { title: 'NewOrder', additionalProperties: false },
)

const OrderChange = Type.Object(
  { shippingAddress: ShippingAddress },
  { title: 'OrderChange', additionalProperties: false },
)

const OrderQuery = Type.Object(
  {
    ...PageQuery.properties,
    ...CreatedRange,
    tenantId: Type.Optional(Type.String({ ...Uuid, description: 'Placed in this tenant' })),
    sort: SortBy('createdAt'),
  },
  { additionalProperties: false },
)

/** Orders belong to the user who placed them: every query has the id and the owner. */
const orders: FastifyPluginAsyncTypebox = async function orders(app) {
  app.get(
    '/orders',
    {
      config: { access: { resource: 'order', action: 'read' } },
      schema: {
        operationId: 'listOrders',
        tags: ['orders'],
        summary: 'List your orders in all your tenants, newest first',
        querystring: OrderQuery,
        response: { 200: PageOf(Order) },
      },
    },
    async (request) => {
      const { page, filter } = readList(request.query, orderList)
      return app.db.read(request.entry, (tx, caller) => listOrders(tx, caller, page, filter))
    },
  )

  app.post(
    '/orders',
    {
      config: {
        versioned: Order,
        idempotencyKey: true,
        access: { resource: 'order', action: 'create' },
      },
      schema: {
        operationId: 'createOrder',
        tags: ['orders'],
        summary: 'Place an order',
        description: 'The order is yours, in your active tenant.',
        body: NewOrder,
        response: { 201: Order, ...problems('quota-exceeded') },
      },
    },
    async (request, reply) => {
      const now = app.clock.now()
      const order = await app.db.write(request.entry, (tx, caller) => {
        const { userId, tenantId } = caller
        if (tenantId === null)
          throw new Problem('forbidden', { detail: 'You have no active tenant.' })
        return createOrder(tx, { userId, tenantId }, request.body, now)
      })
      return reply.code(201).header('location', `/orders/${order.id}`).send(order)
    },
  )

  app.get(
    '/orders/:id',
    {
      config: { versioned: Order, access: { resource: 'order', action: 'read' } },
      schema: {
        operationId: 'getOrder',
        tags: ['orders'],
        summary: 'Read one of your orders',
        params: IdParams,
        response: { 200: Order },
      },
    },
    async (request) =>
      found(await app.db.read(request.entry, findOrder(readId(request.params.id)))),
  )

  app.patch(
    '/orders/:id',
    {
      config: { versioned: Order, access: { resource: 'order', action: 'update' } },
      schema: {
        operationId: 'updateOrder',
        tags: ['orders'],
        summary: 'Change the shipping address of one of your orders',
        params: IdParams,
        body: OrderChange,
        response: { 200: Order, ...problems('quota-exceeded') },
      },
    },
    async (request, reply) => {
      const id = readId(request.params.id)
      const now = app.clock.now()
      return found(
        await app.db.write(request.entry, async (tx, caller) => {
          await reply.ifMatch(() => lockOrder(tx, caller, id))
          return changeOrder(tx, caller, id, request.body, now)
        }),
      )
    },
  )
}

export default orders
