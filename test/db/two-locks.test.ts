import t from 'tap'
import type { Scope, Tx } from '#src/db/database.ts'
import { findInvoice, listInvoices } from '#src/invoices.ts'
import { changeOrder, findOrder, listOrders } from '#src/orders.ts'
import { changePost, deletePost, findPost, listPosts } from '#src/posts.ts'
import { build, createOrder, createTestInvoice, createTestPost, createUser } from '#test/helper.ts'

const page = { limit: 10, after: null }
const admin = { role: 'admin', tenantId: '', tokenPermissions: null }
const now = new Date()
const shippingAddress = { name: 'x', line1: 'x', city: 'x', postalCode: 'x', country: 'PT' }

type Ids = { post: number; order: number; invoice: number }
type Asked = (tx: Tx, scope: Required<Scope>, ids: Ids) => Promise<unknown>

/** Every query of an owner's or tenant's rows, and what it says when it finds none. */
const queries: [string, Asked, unknown][] = [
  ['listPosts', (tx, scope) => listPosts(tx, scope, page), { data: [], nextCursor: null }],
  ['findPost', (tx, scope, { post }) => findPost(tx, scope, post), null],
  [
    'changePost',
    (tx, scope, { post }) => changePost(tx, scope, { ...admin, ...scope }, post, {}, now),
    { outcome: 'missing' },
  ],
  ['deletePost', (tx, scope, { post }) => deletePost(tx, scope, post, now), false],
  ['listOrders', (tx, scope) => listOrders(tx, scope, page), { data: [], nextCursor: null }],
  ['findOrder', (tx, scope, { order }) => findOrder(tx, scope, order), null],
  [
    'changeOrder',
    (tx, scope, { order }) => changeOrder(tx, scope, order, { shippingAddress }, now),
    null,
  ],
  ['listInvoices', (tx, scope) => listInvoices(tx, scope, page), { data: [], nextCursor: null }],
  ['findInvoice', (tx, scope, { invoice }) => findInvoice(tx, scope, invoice), null],
]

async function world(t: Parameters<typeof build>[0]) {
  const test = await build(t)
  const me = await createUser(test.database)
  const other = await createUser(test.database)
  const ids = {
    post: await createTestPost(test.database, other.tenantId),
    order: await createOrder(test.database, other),
    invoice: await createTestInvoice(test.database, other.tenantId),
  }
  return { ...test, me, other, ids }
}

t.test('row-level security alone: a query that asks for another’s rows finds none', async (t) => {
  const { app, me, other, ids } = await world(t)
  for (const [name, ask, nothing] of queries) {
    t.strictSame(await app.db.write(me, (tx) => ask(tx, other, ids)), nothing, name)
  }
  for (const [name, ask, nothing] of queries) {
    t.notSame(await app.db.write(other, (tx) => ask(tx, other, ids)), nothing, `${name} can find`)
  }
})

t.test('the query’s scope alone: row-level security switched off', async (t) => {
  const { app, database, me, ids } = await world(t)
  for (const table of ['posts', 'orders', 'invoices']) {
    await database.admin.query(`ALTER TABLE ${table} DISABLE ROW LEVEL SECURITY`)
  }
  for (const [name, ask, nothing] of queries) {
    t.strictSame(await app.db.write(me, (tx) => ask(tx, me, ids)), nothing, name)
  }
})
