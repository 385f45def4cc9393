import t from 'tap'
import Type from 'typebox'
import { defineResource } from '#src/resources/kit/define.ts'
import { created, folder, id, json, line, owner, updated } from '#src/resources/kit/fields.ts'

const times = { createdAt: created(), updatedAt: updated() }
const lineItems = json(Type.Array(Type.Object({})), Type.Array(Type.Object({})))
const orderFields = { id: id(), userId: owner(), lineItems, ...times }
const documentFields = { id: id(), folderId: folder(), title: line(200), ...times }
const order = { name: 'order', plural: 'orders', scope: 'owner', fields: orderFields } as const
const document = {
  name: 'document',
  plural: 'documents',
  scope: 'chain',
  fields: documentFields,
} as const
const [readOrder, writeOrder] = [
  { permission: null, token: 'order:read' },
  { permission: null, token: 'order:write' },
] as const
const read = { permission: null, token: 'document:read' } as const
const write = { permission: 'post:write', token: 'document:write' } as const

t.test('a page needs an input for each field that an action accepts', async (t) => {
  const define = (hasPage: boolean) =>
    defineResource('Order', {
      ...order,
      actions: { read: readOrder, update: { ...writeOrder, accepts: ['lineItems'] } },
      ...(hasPage && { page: { label: 'Orders', heading: 'id' } }),
    })
  t.throws(() => define(true), {
    message: 'The resource order has a page and no input for lineItems.',
  })
  t.doesNotThrow(() => define(false), 'the API takes JSON')
})

t.test('a page shows no JSON', async (t) => {
  const define = (page: { heading: 'id' | 'lineItems'; columns?: readonly 'lineItems'[] }) => () =>
    defineResource('Order', {
      ...{ ...order, actions: { read: readOrder } },
      page: { label: 'Orders', ...page },
    })
  const message = 'The resource order has a page with the JSON of lineItems.'
  t.throws(define({ heading: 'lineItems' }), { message })
  t.throws(define({ heading: 'id', columns: ['lineItems'] }), { message })
  t.doesNotThrow(define({ heading: 'id' }))
})

t.test('a row in a folder keeps its team, so an update cannot move it', async (t) => {
  const define = () =>
    defineResource('Document', {
      ...document,
      actions: { read, update: { ...write, accepts: ['title', 'folderId'] } },
    })
  t.throws(define, { message: /an update of the folder, whose team the row keeps/ })
})
