import t from 'tap'
import type { Actor } from '#src/audit/audit.ts'
import type { Statement } from '#src/db/connections/one-trip.ts'
import type { Tx } from '#src/db/entry.ts'
import { sqlOver } from '#src/db/sql.ts'
import { actionsOf } from '#src/domain/actions.ts'
import { documents } from '#src/resources/documents.ts'
import { invoices } from '#src/resources/invoices.ts'
import { orders } from '#src/resources/orders.ts'
import { posts } from '#src/resources/posts.ts'
import { adaptRead, readsById } from '#src/schema/citus/reads.ts'
import { deleteEndpoint } from '#src/webhooks/endpoints/endpoints.ts'

const { find: findDocument, insert: createDocument } = actionsOf(documents)
const { find: findInvoice } = actionsOf(invoices)
const { find: findOrder, lock: lockOrder } = actionsOf(orders)
const { find: findPost, findWithNames: findPostWithAuthor } = actionsOf(posts)

t.test(
  'every read or lock by id has another form on a cluster, and other statements have none',
  async (t) => {
    const finds = [findPost, findPostWithAuthor, findInvoice, findOrder, findDocument]
    const sent = finds.map((find) => find(1).statement.text)
    const sql = sqlOver(async ({ text }) => {
      sent.push(text)
      return []
    })
    await lockOrder({ sql }, { userId: 1, tenantId: null }, 1)
    const adapted = sent.map((text) => adaptRead({ text }).text)
    t.strictSame(
      adapted.map((text) => /FROM (\w+)\([^$]*\$1(?:, \$2)?\)/.exec(text)?.[1]),
      ['find_post', 'find_post', 'find_invoice', 'find_order', 'find_document', 'lock_order'],
    )
    for (const [end] of readsById) {
      t.ok(
        sent.some((text) => text.split(/\s+/).join(' ').endsWith(end)),
        `still sent: ${end}`,
      )
    }
    const other = { text: 'SELECT 1 FROM posts WHERE id = $1' }
    t.equal(adaptRead(other), other)
  },
)

t.test('an endpoint is deleted by the role that may have locked it', async (t) => {
  const sent: Statement[] = []
  const sql = sqlOver(async (statement) => {
    sent.push(statement)
    return []
  })
  const tx: Pick<Tx, 'sql'> = { sql }
  t.equal(await deleteEndpoint(tx as Tx, { tenantId: 'a', userId: 1 } as Actor, 'b'), false)
  const [{ text, values } = { text: '', values: [] }] = sent.map(adaptRead)
  t.equal(text, 'SELECT drop_endpoint($1::uuid, $2::uuid) AS deleted')
  t.strictSame(values, ['a', 'b'])
})

t.test('a document is created by a function on a cluster', async (t) => {
  const sent: Statement[] = []
  const sql = sqlOver(async (statement) => {
    sent.push(statement)
    return []
  })
  const caller = { userId: 7, tenantId: 'tenant', role: 'editor', department: null }
  const now = new Date()
  const values = { title: 'Title', body: 'Body', folderId: 3 }
  await createDocument({ sql } as Tx, caller, values, now)
  const [statement] = sent.map(adaptRead)
  t.match(statement?.text, /^SELECT id,.* FROM create_document\(\$1::uuid, /)
  t.strictSame(statement?.values, ['tenant', 7, 3, 'Title', 'Body', now])
})
