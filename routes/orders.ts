import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { found, readId } from '#src/ids.ts'
import { changeOrder, findOrder } from '#src/orders.ts'
import { Id, IdParams, Line, problems, Time } from '#src/shapes.ts'

const ShippingAddress = Type.Object(
  {
    name: Line(200),
    line1: Line(200),
    line2: Type.Optional(Line(200)),
    city: Line(200),
    postalCode: Line(32),
    country: Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2' }),
  },
  { additionalProperties: false },
)

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

const OrderChange = Type.Object(
  { shippingAddress: ShippingAddress },
  { additionalProperties: false },
)

/** Orders belong to the person who placed them: id AND owner, in the query and in the database. */
const orders: FastifyPluginAsyncTypebox = async function orders(app) {
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
      return found(await app.db.read(scope, (tx) => findOrder(tx, scope, id)))
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
