import t from 'tap'
import type { Database } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { findDocument } from '#src/resources/documents.ts'
import { findInvoice } from '#src/resources/invoices.ts'
import { findOrder } from '#src/resources/orders.ts'
import { findPost, findPostWithAuthor } from '#src/resources/posts.ts'
import { adaptRead, readsById } from '#src/schema/citus/reads.ts'

t.test(
  'every read by id has another form on a cluster, and other statements have none',
  async (t) => {
    const sent: string[] = []
    const db: Pick<Database, 'readRows'> = {
      async readRows(_entry, { text }) {
        sent.push(text)
        return { facts: {} as never, rows: [] }
      },
    }
    const entry = {} as Entry<never>
    for (const find of [findPost, findPostWithAuthor, findInvoice, findOrder, findDocument]) {
      await find(db, entry, 1)
    }
    const adapted = sent.map((text) => adaptRead({ text }).text)
    t.strictSame(
      adapted.map((text) => /FROM (find_\w+)\([^$]*\$1\)/.exec(text)?.[1]),
      ['find_post', 'find_post', 'find_invoice', 'find_order', 'find_document'],
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
