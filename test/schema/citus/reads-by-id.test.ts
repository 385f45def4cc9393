import t from 'tap'
import { sqlOver } from '#src/db/sql.ts'
import { findDocument } from '#src/resources/documents.ts'
import { findInvoice } from '#src/resources/invoices.ts'
import { findOrder, lockOrder } from '#src/resources/orders.ts'
import { findPost, findPostWithAuthor } from '#src/resources/posts.ts'
import { adaptRead, readsById } from '#src/schema/citus/reads.ts'

t.test(
  'every read or lock by id has another form on a cluster, and other statements have none',
  async (t) => {
    const finds = [findPost, findPostWithAuthor, findInvoice, findOrder, findDocument]
    const sent = finds.map((find) => find(1).statement.text)
    const sql = sqlOver(async ({ text }) => {
      sent.push(text)
      return []
    })
    await lockOrder({ sql }, { userId: 1 }, 1)
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
