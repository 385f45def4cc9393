import t, { type Test } from 'tap'
import { as, createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { openDatabase } from '#src/db/database.ts'
import { build } from '#test/support/app/app.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'

/*
 * Two writes that lock the same two rows in opposite orders: PostgreSQL rolls one back after a
 * second, and it runs again.
 */

async function world(t: Test) {
  const database = await createDatabase(t)
  // Long after the second in which PostgreSQL looks for deadlocks.
  const limits = { ...patient.limits, lockMs: 10_000 }
  const db = openDatabase(database.url, 3, { limits })
  t.teardown(() => db.close())
  const enter = await allowScopes<TestUser>(database)
  const admin = await createUser(database, { role: 'admin' })
  const other = await createUser(database, { tenantId: admin.tenantId })
  return { database, db, entry: enter(admin), ids: [admin.userId, other.userId] }
}

/** Runs both orders at once; each waits for the other after its first row, in its first run. */
async function runAgainstEachOther(
  ids: readonly number[],
  run: (order: readonly number[], between: () => Promise<void>) => Promise<unknown>,
): Promise<number> {
  const { promise: bothHold, resolve } = Promise.withResolvers<void>()
  let holding = 0
  const between = async () => {
    holding += 1
    if (holding === 2) resolve()
    await bothHold
  }
  await Promise.all([run(ids, between), run(ids.toReversed(), between)])
  return holding
}

t.test('a write through Prisma that loses a deadlock runs again', async (t) => {
  const { database, db, entry, ids } = await world(t)
  const runs = await runAgainstEachOther(ids, (order, between) =>
    db.write(entry, async (tx) => {
      for (const id of order) {
        await tx.membership.updateMany({ where: { userId: id }, data: { department: 'sales' } })
        if (id === order[0]) await between()
      }
    }),
  )
  t.ok(runs > 2, 'one of them began again')
  const { rows } = await database.admin.query('SELECT DISTINCT department FROM memberships')
  t.same(rows, [{ department: 'sales' }])
})

t.test('the same for hand-written statements', async (t) => {
  const { db, entry, ids } = await world(t)
  const runs = await runAgainstEachOther(ids, (order, between) =>
    db.write(entry, async (tx) => {
      for (const id of order) {
        await tx.sql`SELECT 1 FROM memberships WHERE user_id = ${id} FOR UPDATE`
        if (id === order[0]) await between()
      }
    }),
  )
  t.ok(runs > 2)
})

t.test('of two sessions that end each other at once, one stays', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database)
  for (const _ of [1, 2, 3]) {
    const sessions = [await signIn(test, user), await signIn(test, user)]
    const answers = await Promise.all(
      sessions.map(({ cookie }) => as(test, { cookie })('DELETE', '/auth/sessions')),
    )
    const statuses = answers.map(({ statusCode }) => statusCode).toSorted()
    t.same(statuses, [204, 401], 'the second one has no session any more')
    const { rowCount } = await test.database.admin.query('SELECT FROM sessions')
    t.equal(rowCount, 1)
    await test.database.admin.query('DELETE FROM sessions')
  }
})
