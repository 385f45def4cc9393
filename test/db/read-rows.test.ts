import t from 'tap'
import { openDatabase } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { createDatabase, createOrder, createUser } from '#test/support/helper.ts'

t.test('readRows runs in its scope, READ ONLY, and releases a clean connection', async (t) => {
  const database = await createDatabase(t)
  const mine = await createUser(database)
  const other = await createUser(database)
  const order = await createOrder(database, mine)
  for (const mode of ['set-local', 'set-config'] as const) {
    const db = openDatabase(database.url, 1, mode)
    t.teardown(() => db.close())
    const all = Prisma.sql`SELECT id::int AS id FROM orders`
    for (const [scope, found] of [
      [mine, [{ id: order }]],
      [other, []],
      [{}, []],
      [mine, [{ id: order }]],
    ] as const) {
      t.strictSame(await db.readRows(scope, all), found)
    }
    const write = Prisma.sql`UPDATE orders SET updated_at = now() RETURNING id`
    await t.rejects(db.readRows(mine, write), /read-only transaction/)
    await t.rejects(db.readRows(mine, Prisma.sql`SELECT 1 / 0`), /division by zero/)
    await t.rejects(db.readRows({ userId: 0 }, all), /names no user id/)
    await t.rejects(db.readRows({ tenantId: `'; --` }, all), /names no tenant id/)
    t.strictSame(await db.readRows(mine, all), [{ id: order }], 'after each of these')
    t.strictSame(await db.readRows(other, all), [])
  }
})
