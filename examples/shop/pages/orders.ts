import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  actionsOf,
  CursorQuery,
  filterSchemasOf,
  found,
  IdParams,
  queryOf,
  readFilters,
  readId,
  readList,
} from 'gatehouse/routes'
import Type from 'typebox'
import { orders as declared } from '../resources/orders.ts'
import { addressForm, orderListPage, orderPage } from './order-pages.ts'

const { change, find, list, listingBy } = actionsOf(declared)
const listQuery = queryOf(declared, null)
const ListQuery = Type.Object(
  { ...CursorQuery.properties, ...filterSchemasOf(listQuery) },
  { additionalProperties: false },
)

const Query = Type.Object(
  { done: Type.Optional(Type.Literal('changed')) },
  { additionalProperties: false },
)

const pageSize = '25'

const read = { access: { resource: 'order', action: 'read' } } as const
const update = { access: { resource: 'order', action: 'update' } } as const
const schema = { hide: true, params: IdParams }

/** The page of the viewer's own order, with a form for its shipping address. */
const orders: FastifyPluginAsyncTypebox = async function orders(app) {
  app.get(
    '/app/orders',
    { config: read, schema: { hide: true, querystring: ListQuery } },
    async (request, reply) => {
      const { cursor, ...given } = request.query
      const used = readFilters(listQuery, given)
      const { page, filter } = readList(
        { limit: pageSize, ...(cursor !== undefined && { cursor }), ...used },
        listingBy(used.sort),
      )
      const listed = await app.db.read(request.entry, (tx, caller) =>
        list(tx, caller, page, filter, { sort: used.sort, count: true }),
      )
      const { data: orders, count, ...cursors } = listed
      const { viewer } = request
      return reply.sendPage(orderListPage({ viewer, orders, cursors, count, used }))
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
