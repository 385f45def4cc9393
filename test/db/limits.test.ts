import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { testSettings } from '#dev/testing/settings.ts'
import { readConfig } from '#src/config/config.ts'
import { openDatabase, type Tx } from '#src/db/database.ts'
import { withoutScope } from '#src/db/entry.ts'
import { isDatabaseUnavailable } from '#src/db/errors.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createLogger } from '#src/observability/logger.ts'
import { openQueue } from '#src/queue/queue.ts'
import { superviseWorker } from '#src/worker.ts'
import { build } from '#test/support/app/app.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'
import { rowsOf } from '#test/support/database/rows-of.ts'
import { untilTrue } from '#test/support/database/until.ts'

const limits = `SELECT name, setting FROM pg_settings
  WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'jit')`

t.test('every connection has timeouts, and none compiles plans', async (t) => {
  const database = await createDatabase(t)
  // The connection's own settings, not those of its role.
  const role = `ALTER ROLE test_app IN DATABASE ${new URL(database.url).pathname.slice(1)}`
  await database.admin.query(`${role} SET statement_timeout = 0; ${role} SET jit = on`)
  const db = openDatabase(database.url, 1, patient)
  const systemDb = openSystemDatabase(database.url, 1, patient)
  const queue = openQueue(database.url, 'web', () => {})
  await queue.start()
  t.teardown(() => Promise.all([db.close(), systemDb.close(), queue.stop({ graceful: false })]))
  const connections = {
    transactions: await db.read(withoutScope, (tx) => tx.sql<Setting>({ text: limits })),
    reads: await db.read(withoutScope, rowsOf<Setting>(Prisma.raw(limits))),
    systemDb: await systemDb.sql<Setting>({ text: limits }),
    queue: (await queue.getDb().executeSql(limits)).rows as Setting[],
  }
  for (const [name, settings] of Object.entries(connections)) {
    t.strictSame(
      Object.fromEntries(settings.map(({ name, setting }) => [name, setting])),
      {
        statement_timeout: '5000',
        lock_timeout: '2000',
        idle_in_transaction_session_timeout: '10000',
        jit: 'off',
      },
      name,
    )
  }
})

t.test('an exhausted pool causes a bounded 503 with Retry-After and recovers', async (t) => {
  const test = await build(t, { DATABASE_POOL_SIZE: '2' }, { limits: { acquireMs: 800 } })
  const user = await createUser(test.database)
  const url = `/orders/${await createOrder(test.database, user)}`
  const { cookie } = await signIn(test, user)
  const get = () => test.app.inject({ url, headers: { cookie } })
  const blocker = await test.database.admin.connect()
  t.teardown(() => blocker.release())
  await blocker.query('BEGIN; LOCK TABLE orders IN ACCESS EXCLUSIVE MODE')
  const answers = await Promise.all(Array.from({ length: 12 }, get))
  for (const { statusCode, headers } of answers) {
    t.match({ statusCode, headers }, refused)
  }
  await blocker.query('ROLLBACK')
  t.equal((await get()).statusCode, 200)
})

/** Longer than a request waits for a connection, and shorter than opening one may take. */
const lateMs = 900

type Setting = { name: string; setting: string }

const refused = {
  statusCode: 503,
  headers: { 'retry-after': '1', 'content-type': /^application\/problem\+json/ },
}

t.test('a whole transaction is limited, and its connection is free again', async (t) => {
  const database = await createDatabase(t)
  const db = openDatabase(database.url, 1, { ...patient, transactionMs: 100 })
  t.teardown(() => db.close())
  let late: Promise<unknown> = Promise.resolve()
  const slow = async (tx: Tx) => {
    for (let statements = 0; statements < 3; statements += 1)
      await tx.sql`SELECT 1 FROM pg_sleep(0.08)`
  }
  const read = db.read(withoutScope, (tx) => {
    const working = slow(tx)
    late = working.catch((error) => error)
    return working
  })
  const error = await read.catch((reason: unknown) => reason)
  t.ok(isDatabaseUnavailable(error), 'answered with 503')
  t.match(await late, /has ended/, 'and no further statement runs')
  const rows = await db.read(withoutScope, (tx) => tx.sql`SELECT 1 AS one`)
  t.same(rows, [{ one: 1 }])
})

t.test('the locks that a write takes before it enters are limited too', async (t) => {
  const database = await createDatabase(t)
  const db = openDatabase(database.url, 1, { ...patient, transactionMs: 100 })
  t.teardown(() => db.close())
  const lockFirst = (tx: Tx) => tx.sql`SELECT 1 FROM pg_sleep(0.3)`
  const written = db.write({ ...withoutScope, lockFirst }, async () => t.fail('it has not entered'))
  const error = await written.catch((reason: unknown) => reason)
  t.ok(isDatabaseUnavailable(error), 'answered with 503')
  const rows = await db.write(withoutScope, (tx) => tx.sql`SELECT 1 AS one`)
  t.same(rows, [{ one: 1 }], 'and its connection is free again')
})

t.test('a connection that opens too late for its caller serves the next one', async (t) => {
  const database = await createDatabase(t)
  const proxy = await startProxy(t, database.url)
  const url = proxy.through(database.url)
  const db = openDatabase(url, 1)
  const systemDb = openSystemDatabase(url, 1)
  t.teardown(() => Promise.all([db.close(), systemDb.close()]))
  proxy.openAfter(lateMs)
  const callers = {
    reads: () => db.read(withoutScope, rowsOf(Prisma.sql`SELECT 1`)),
    transactions: () => db.read(withoutScope, (tx) => tx.sql`SELECT 1`),
    systemDb: () => systemDb.sql`SELECT 1`,
  }
  for (const [name, call] of Object.entries(callers)) {
    const error = await call().catch((reason: unknown) => reason)
    t.ok(isDatabaseUnavailable(error), `${name}: answered with 503`)
    await untilTrue(() => call().then(Boolean, () => false))
    t.pass(`${name}: answered later`)
  }
  await untilTrue(async () => {
    const queue = openQueue(url, 'web', () => {})
    try {
      await queue.start()
      t.match(await queue.getQueues(['billing-event']), [{ name: 'billing-event' }], 'queue')
      return true
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error
      return false // later than the queue waits
    } finally {
      await queue.stop({ graceful: false })
    }
  })
})

t.test('a worker starts although its connections open later than a request waits', async (t) => {
  const database = await createDatabase(t)
  const proxy = await startProxy(t, database.url)
  proxy.openAfter(lateMs)
  const through = { url: proxy.through(database.url), workerUrl: proxy.through(database.workerUrl) }
  const config = readConfig(testSettings({ ...database, ...through }))
  const worker = await superviseWorker(config, createLogger('silent'))
  t.teardown(() => worker.stop())
  t.ok(worker.current())
})
