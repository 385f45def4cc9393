import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { found, readId } from '#src/http/params.ts'
import { IdParams } from '#src/http/schemas.ts'
import { orderPage } from '#src/pages/order.ts'
import { changeOrder, findOrder, ShippingAddress } from '#src/resources/orders.ts'

const Query = Type.Object(
  { done: Type.Optional(Type.Literal('changed')) },
  { additionalProperties: false },
)
// A form sends its empty fields too.
const AddressForm = Type.Object(
  {
    ...ShippingAddress.properties,
    line2: Type.Union([ShippingAddress.properties.line2, Type.Literal('')]),
  },
  { additionalProperties: false },
)
const hidden = { hide: true } as const

/** One's own order as a page: the scoped query of the API, with a form in front. */
const orderPages: FastifyPluginAsyncTypebox = async function orderPages(app) {
  app.get(
    '/app/orders/:id',
    {
      config: { access: { resource: 'order', action: 'read' } },
      schema: { ...hidden, params: IdParams, querystring: Query },
    },
    async (request, reply) => {
      const scope = request.ownerScope
      const id = readId(request.params.id)
      const order = found(await findOrder(app.db, scope, id))
      const changed = request.query.done === 'changed'
      return reply.sendPage(orderPage({ viewer: request.viewer, changed, order }))
    },
  )

  app.post(
    '/app/orders/:id/address',
    {
      config: { access: { resource: 'order', action: 'update' } },
      schema: { ...hidden, params: IdParams, body: AddressForm },
    },
    async (request, reply) => {
      const scope = request.ownerScope
      const id = readId(request.params.id)
      const { line2, ...address } = request.body
      const shippingAddress = line2 === '' ? address : { ...address, line2 }
      const now = app.clock.now()
      found(await app.db.write(scope, (tx) => changeOrder(tx, scope, id, { shippingAddress }, now)))
      return reply.redirect(`/app/orders/${id}?done=changed`, 303)
    },
  )
}

export default orderPages
