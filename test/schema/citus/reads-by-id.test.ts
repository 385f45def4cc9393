import t from 'tap'
import { documents } from '#shop/resources/documents.ts'
import { orders } from '#shop/resources/orders.ts'
import { posts } from '#shop/resources/posts.ts'
import type { Actor } from '#src/audit/audit.ts'
import type { Statement } from '#src/db/connections/one-trip.ts'
import type { Tx } from '#src/db/entry.ts'
import { type Sql, sqlOver } from '#src/db/sql.ts'
import { invoices } from '#src/resources/invoices.ts'
import { actionsOf } from '#src/rows/actions.ts'
import { adapt } from '#src/schema/citus/statements.ts'
import { deleteEndpoint } from '#src/webhooks/endpoints/endpoints.ts'

const { find: findDocument, insert: createDocument } = actionsOf(documents)
const { find: findInvoice } = actionsOf(invoices)
const { find: findOrder, lock: lockOrder, insert: createOrder } = actionsOf(orders)
const { find: findPost, findWithNames: findPostWithAuthor, lock: lockPost } = actionsOf(posts)

/** The statement that a function sends, and what a cluster gets instead. */
async function sentBy(run: (sql: Sql) => Promise<unknown>) {
  const sent: Statement[] = []
  await run(
    sqlOver(async (statement) => {
      sent.push(statement)
      return []
    }),
  )
  const [statement] = sent
  if (statement === undefined || sent.length > 1) throw new Error('One statement was expected.')
  return { statement, adapted: adapt(statement) }
}

const plain = { department: null, plan: null, serviceId: null }

t.test('every read by id calls a function on a cluster, with the same columns', async (t) => {
  for (const [find, call] of [
    [findPost, /FROM find_post\(.+::uuid, \$1\) AS posts$/],
    [findPostWithAuthor, /FROM find_post\(.+::uuid, \$1\) AS posts$/],
    [findInvoice, /FROM find_invoice\(.+::uuid, \$1\) AS invoices$/],
    [findOrder, /FROM find_order\(.+::uuid, .+::bigint, \$1\) AS orders$/],
    [findDocument, /FROM find_document\(.+::uuid, .+::bigint, \$1\) AS documents$/],
  ] as const) {
    const { statement } = find(7)
    const { text, values } = adapt(statement)
    t.match(text, call)
    t.equal(columnsOf(text), columnsOf(statement.text))
    t.strictSame(values, [7])
  }
})

/** What stands before the table. */
function columnsOf(text: string): string {
  return text.replace(/ FROM (find_)?(post|invoice|order|document)s?\b.*$/s, '')
}

t.test('an order is locked by a function, unless its tenant is known', async (t) => {
  const person = { userId: 1, tenantId: 'tenant' }
  const { adapted } = await sentBy((sql) => lockOrder({ sql }, person, 2))
  t.match(adapted.text, /^SELECT id,.* FROM lock_order\(\$1, \$2\)$/)
  t.strictSame(adapted.values, [1, 2])
  const atHome = await sentBy((sql) => lockOrder({ sql }, { ...person, homeId: 'tenant' }, 2))
  t.equal(atHome.adapted, atHome.statement)
  const post = await sentBy((sql) => lockPost({ sql }, person, 2))
  t.equal(post.adapted, post.statement)
})

t.test('other statements stay as they are', async (t) => {
  const other = { text: 'SELECT 1 FROM posts WHERE id = $1' }
  t.equal(adapt(other), other)
  const row = { does: 'find', table: 'tasks', selected: 'id' } as const
  const found = { text: 'SELECT id FROM tasks WHERE id = $1', row }
  t.equal(adapt(found), found)
  const caller = { userId: 7, tenantId: 'tenant', role: 'editor', ...plain }
  const { statement, adapted } = await sentBy((sql) =>
    createOrder({ sql } as Tx, caller, {}, new Date()),
  )
  t.equal(adapted, statement)
})

t.test('an endpoint is deleted by the role that may have locked it', async (t) => {
  const by = { tenantId: 'a', userId: 1 } as Actor
  const { adapted } = await sentBy((sql) => deleteEndpoint({ sql } as Tx, by, 'b'))
  t.equal(adapted.text, 'SELECT drop_endpoint($1::uuid, $2::uuid) AS deleted')
  t.strictSame(adapted.values, ['a', 'b'])
})

t.test('a document is created by a function on a cluster', async (t) => {
  const caller = { userId: 7, tenantId: 'tenant', role: 'editor', ...plain }
  const now = new Date()
  const values = { title: 'Title', body: 'Body', folderId: 3 }
  const { adapted } = await sentBy((sql) => createDocument({ sql } as Tx, caller, values, now))
  t.match(adapted.text, /^SELECT id,.* FROM create_document\(\$1::uuid, /)
  t.strictSame(adapted.values, ['tenant', 7, 3, 'Title', 'Body', now, now])
})
