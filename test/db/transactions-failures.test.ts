import { setImmediate as immediately } from 'node:timers/promises'
import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { type Database, openDatabase } from '#src/db/database.ts'
import { withoutScope } from '#src/db/entry.ts'
import { isDatabaseUnavailable } from '#src/db/errors.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { openPatiently, patient } from '#test/support/database/open.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'
import { allowScopes, type TestScope } from '#test/support/database/scope.ts'

t.test('a backend killed during a transaction', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 1)
  const { tenantId } = await createUser(database)
  const entryOf = await allowScopes<TestScope>(database)
  for (const access of [db.read, db.write]) {
    const failure = await access(entryOf({ tenantId }), async (tx) => {
      const [{ pid } = { pid: 0 }] = await tx.sql<Pid>({ text: backend })
      await database.admin.query('SELECT pg_terminate_backend($1, 5000)', [pid])
      return tx.team.count()
    }).catch((error: unknown) => error)
    t.ok(isDatabaseUnavailable(failure), 'is seen as unavailable', { failure })
    t.equal(
      await db.read(entryOf({ tenantId }), (tx) => tx.team.count()),
      0,
      'the next transaction works',
    )
  }
})

t.test('a connection that breaks between the last response and COMMIT', async (t) => {
  const database = await createDatabase(t)
  const proxy = await startProxy(t, database.url)
  const db = openPatiently(t, proxy.through(database.url), 1)
  const { tenantId } = await createUser(database)
  const entryOf = await allowScopes<TestScope>(database)
  t.equal(await db.read(entryOf({ tenantId }), (tx) => tx.team.count()), 0)
  proxy.cutAt('COMMIT')
  t.equal(
    await db.read(entryOf({ tenantId }), (tx) => tx.team.count()),
    0,
    'a read has its answer already',
  )
  const team = { tenantId, name: 'x' }
  const failure = await db
    .write(entryOf({ tenantId }), (tx) => tx.team.create({ data: team }))
    .catch((error: unknown) => error)
  t.ok(isDatabaseUnavailable(failure), 'a write without its COMMIT fails', { failure })
  t.equal((await database.admin.query('SELECT FROM teams')).rowCount, 0)
  proxy.cutAt('never sent')
  t.equal(
    await db.read(entryOf({ tenantId }), (tx) => tx.team.count()),
    0,
    'the next transaction works',
  )
})

t.test('an exhausted pool is a bounded error, not a hang', async (t) => {
  const database = await createDatabase(t)
  const db = openDatabase(database.url, 1)
  t.teardown(() => db.close())
  // A hang would run into the deadline of the test.
  const failure = await db.read(withoutScope, async () => {
    const inner = db.read(withoutScope, (tx) => tx.receivedEvent.count())
    return inner.catch((error: unknown) => error)
  })
  t.ok(isDatabaseUnavailable(failure), 'seen as unavailable', { failure })
  t.equal(await db.read(withoutScope, (tx) => tx.receivedEvent.count()), 0, 'the pool recovers')
})

t.test('a dirty connection is destroyed, a clean one is reused', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 1)
  const clean = await pidOf(db)
  t.equal(await pidOf(db), clean, 'after a commit')
  await t.rejects(db.write(withoutScope, (tx) => tx.sql({ text: 'SELECT 1 / 0' })))
  t.equal(await pidOf(db), clean, 'after a rollback')
  const proxy = await startProxy(t, database.url)
  const broken = openPatiently(t, proxy.through(database.url), 1)
  const before = await pidOf(broken)
  proxy.cutAt('ROLLBACK')
  await t.rejects(broken.write(withoutScope, (tx) => tx.sql({ text: 'SELECT 1 / 0' })))
  t.not(await pidOf(broken), before, 'after a rollback without a response')
})

t.test('a connection to a server that became read-only is destroyed', async (t) => {
  const database = await createDatabase(t)
  const db = openDatabase(database.url, 1, patient)
  const systemDb = openSystemDatabase(database.url, 1, patient)
  t.teardown(() => Promise.all([db.close(), systemDb.close()]))
  const before = await pidOf(db)
  const failure = await db
    .write(withoutScope, async (tx) => {
      await tx.sql`SET TRANSACTION READ ONLY`
      await tx.sql`UPDATE received_events SET status = 'dead'`
    })
    .catch((error: unknown) => error)
  t.ok(isDatabaseUnavailable(failure), 'seen as unavailable', { failure })
  t.not(await pidOf(db), before, 'the next one may lead to the new primary')

  const ask = async () => (await systemDb.sql`SELECT pg_backend_pid()`)[0]
  const pid = await ask()
  t.strictSame(await ask(), pid)
  const write = systemDb.transaction({ statementTimeoutMs: 1_000 }, async (connection) => {
    await connection.sql`SET TRANSACTION READ ONLY`
    await connection.sql`UPDATE received_events SET status = 'dead'`
  })
  await t.rejects(write, { code: '25006' })
  t.strictNotSame(await ask(), pid)
})

t.test('a statement after the end of its transaction is refused', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 1)
  const { tenantId } = await createUser(database)
  const entryOf = await allowScopes<TestScope>(database)
  let late: Promise<unknown> = Promise.resolve()
  const failing = db.write(entryOf({ tenantId }), async (tx) => {
    // Prisma reads relations with separate statements after the first response.
    late = tx.tenant
      .findMany({
        select: { id: true, invoices: true, memberships: { include: { user: true } } },
      })
      .catch((error: unknown) => error)
    await immediately()
    throw new Error('given up while it reads')
  })
  await t.rejects(failing, /given up/)
  t.match(await late, { message: /has ended/ }, 'the connection may have another scope by then')
  t.equal(await db.read(entryOf({ tenantId }), (tx) => tx.tenant.count()), 1)
})

t.test('a server that stops responding is abandoned after a timeout', async (t) => {
  const database = await createDatabase(t)
  const proxy = await startProxy(t, database.url)
  const systemDb = openSystemDatabase(proxy.through(database.url), 1, patient)
  t.teardown(() => systemDb.close())
  const work = () => systemDb.transaction({ statementTimeoutMs: 100 }, (tx) => tx.sql`SELECT 1`)
  t.equal((await work()).length, 1)
  proxy.silence()
  // The server never responds, so only a timeout of the client ends this.
  const failure = await work().catch((error: unknown) => error)
  t.ok(isDatabaseUnavailable(failure), 'seen as unavailable', { failure })
})

t.test('the server cancels a slow statement of the system database', async (t) => {
  const database = await createDatabase(t)
  const systemDb = openSystemDatabase(database.url, 1, patient)
  t.teardown(() => systemDb.close())
  // The answer of a busy server is late.
  const limits = { statementTimeoutMs: 100, answerMs: 60_000 }
  const run = (text: string) => systemDb.transaction(limits, (tx) => tx.sql({ text }))
  const [before] = await run(backend)
  await t.rejects(run('SELECT pg_sleep(60)'), { code: '57014' })
  t.strictSame(await run(backend), [before], 'the connection is reused')
  const rows = await systemDb.sql`SHOW statement_timeout`
  t.strictSame(rows, [{ statement_timeout: '5s' }], 'the timeout applied to the transaction only')
  const swallowed = systemDb.transaction({ statementTimeoutMs: 100 }, async (tx) => {
    await tx.sql`SELECT 1 / 0`.catch(() => {})
  })
  await t.rejects(swallowed, /rolled back/, 'a COMMIT with the response ROLLBACK is an error')
})

const backend = 'SELECT pg_backend_pid() AS pid'
type Pid = { pid: number }

async function pidOf(db: Database): Promise<number | undefined> {
  const [row] = await db.read(withoutScope, (tx) => tx.sql<Pid>({ text: backend }))
  return row?.pid
}

t.test('statements after one that failed fail with its error', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 1)
  const outcomes = await db.read(withoutScope, (tx) =>
    Promise.allSettled([tx.sql`SELECT 1 / 0`, tx.sql`SELECT 1`, tx.team.count()]),
  )
  t.match(outcomes, Array(3).fill({ status: 'rejected', reason: /division by zero/ }))
})
