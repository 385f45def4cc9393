import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { documents } from '#shop/resources/documents.ts'
import { orders } from '#shop/resources/orders.ts'
import { posts } from '#shop/resources/posts.ts'
import type { Entry } from '#src/db/entry.ts'
import { withoutScope } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { Problem } from '#src/http/problems.ts'
import { invoices } from '#src/resources/invoices.ts'
import { actionsOf } from '#src/rows/actions.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { pgbouncer, startPgbouncer } from '#test/support/database/pgbouncer.ts'
import { rowsAndFactsOf, rowsOf } from '#test/support/database/rows-of.ts'
import { allowScopes, type TestScope } from '#test/support/database/scope.ts'

const { find: findDocument } = actionsOf(documents)
const { find: findInvoice } = actionsOf(invoices)
const { find: findOrder } = actionsOf(orders)
const { find: findPost, findWithNames: findPostWithAuthor } = actionsOf(posts)

const skip = pgbouncer === null && 'no pgbouncer on this machine: npm does not bring one along'
const all = Prisma.sql`SELECT id::int AS id FROM orders`

for (const through of ['PostgreSQL', 'PgBouncer'] as const) {
  const options = { skip: through === 'PgBouncer' && skip }
  t.test(`entry and statement are one READ ONLY transaction: ${through}`, options, async (t) => {
    const database = await createDatabase(t)
    const url =
      through === 'PgBouncer'
        ? (await startPgbouncer(t, database.url, 1)).through(database.url)
        : database.url
    const db = openPatiently(t, url, 1)
    const entryOf = await allowScopes<TestScope>(database)
    const mine = await createUser(database)
    const other = await createUser(database)
    const order = await createOrder(database, mine)
    const read = async (scope: TestScope) => await db.read(entryOf(scope), rowsOf(all))
    for (const [scope, found] of [
      [mine, [{ id: order }]],
      [other, []],
      [{}, []],
      [mine, [{ id: order }]],
    ] as const) {
      t.strictSame(await read(scope), found)
    }
    t.strictSame(
      (await db.read(entryOf(mine), rowsAndFactsOf(all))).facts,
      mine,
      'what the entry found',
    )
    t.strictSame(await db.read(withoutScope, rowsOf(all)), [], 'nothing of a scope stays')

    const isolation = Prisma.sql`SELECT current_setting('transaction_isolation') AS level`
    t.strictSame(
      await db.read(entryOf(mine), rowsOf(isolation)),
      [{ level: 'repeatable read' }],
      'the rows are of the moment at which the entry decided',
    )
    const write = Prisma.sql`UPDATE orders SET updated_at = now() RETURNING id`
    await t.rejects(db.read(entryOf(mine), rowsOf(write)), /read-only transaction/)
    await t.rejects(db.read(entryOf(mine), rowsOf(Prisma.sql`SELECT 1 / 0`)), /division by zero/)
    const failing: Entry<undefined> = {
      ...withoutScope,
      statement: () => Prisma.sql`SELECT 1 / 0`,
    }
    await t.rejects(db.read(failing, rowsOf(all)), /division by zero/, 'without an entry no rows')
    t.strictSame(await read(mine), [{ id: order }], 'after each of those')
    t.strictSame(await read(other), [])
  })
}

t.test(
  'when the decision is no, rows are dropped and the next reader sees nothing of it',
  async (t) => {
    const database = await createDatabase(t)
    const db = openPatiently(t, database.url, 1)
    const entryOf = await allowScopes<TestScope>(database)
    const mine = await createUser(database)
    await createOrder(database, mine)
    const refused: Entry<TestScope> = {
      ...entryOf(mine),
      admit() {
        throw new Problem('forbidden')
      },
    }
    await t.rejects(db.read(refused, rowsOf(all)), { code: 'forbidden' })
    await t.rejects(db.read(refused), { code: 'forbidden' })
    let reached = false
    const work = async () => {
      reached = true
    }
    for (const access of [db.read, db.write]) {
      await t.rejects(access(refused, work), { code: 'forbidden' })
    }
    t.equal(reached, false, 'no transaction goes on')
    t.strictSame(await db.read(withoutScope, rowsOf(all)), [])
    t.strictSame(await db.read(entryOf(mine)), mine, 'enter returns the facts')
  },
)

t.test('the functions that find a row by its id are inlined in the statement', async (t) => {
  const { admin } = await createDatabase(t)
  for (const find of [findDocument, findInvoice, findOrder, findPost, findPostWithAuthor]) {
    const { text, values = [] } = find(1).statement
    const { rows } = await admin.query(`EXPLAIN (FORMAT JSON) ${text}`, [...values])
    const plan = JSON.stringify(rows)
    t.match(plan, /"Relation Name":"(documents|invoices|orders|posts)"/)
    t.notMatch(plan, /"Function Scan"/)
  }
})
