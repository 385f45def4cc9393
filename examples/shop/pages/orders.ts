import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { actionsOf, found, IdParams, listPageOf, queryOf, readId } from 'gatehouse/routes'
import Type from 'typebox'
import { orders as declared } from '../resources/orders.ts'
import { addressForm, orderListPage, orderPage } from './order-pages.ts'

const { change, find, list, listingBy } = actionsOf(declared)
const { query, querystring, read: readQuery } = listPageOf(queryOf(declared, null))

const Query = Type.Object(
  { done: Type.Optional(Type.Literal('changed')) },
  { additionalProperties: false },
)

const read = { access: { resource: 'order', action: 'read' } } as const
const update = { access: { resource: 'order', action: 'update' } } as const
const schema = { hide: true, params: IdParams }

/** The page of the viewer's own order, with a form for its shipping address. */
const orders: FastifyPluginAsyncTypebox = async function orders(app) {
  app.get(
    '/app/orders',
    { config: read, schema: { hide: true, querystring } },
    async (request, reply) => {
      const { page, filter, used } = readQuery(request.query, listingBy)
      const listed = await app.db.read(request.entry, (tx, caller) =>
        list(tx, caller, page, filter, { sort: used.sort, count: true }),
      )
      const { data: orders, count, ...cursors } = listed
      const { viewer } = request
      return reply.sendPage(orderListPage({ viewer, orders, cursors, count, query, used }))
    },
  )
  app.get(
    '/app/orders/:id',
    { config: read, schema: { ...schema, querystring: Query } },
    async (request, reply) => {
      const { entry, params, query } = request
      const order = found(await app.db.read(entry, find(readId(params.id))))
      const changed = query.done === 'changed'
      return reply.sendPage(orderPage({ viewer: request.viewer, changed, order }))
    },
  )
  app.post(
    '/app/orders/:id/address',
    { config: update, schema: { ...schema, body: addressForm.schema } },
    async (request, reply) => {
      const { entry, params, body } = request
      const id = readId(params.id)
      const { line2, ...address } = body
      const shippingAddress = line2.trim() === '' ? address : { ...address, line2 }
      const now = app.clock.now()
      await app.db.write(entry, (tx, caller) =>
        change({ tx, caller, now }, id, { shippingAddress }),
      )
      return reply.redirect(`/app/orders/${id}?done=changed`, 303)
    },
  )
}

export default orders
