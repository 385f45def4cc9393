import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { buildApp } from '#src/app.ts'
import { openDatabase } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createLogger } from '#src/observability/logger.ts'
import { verifyDatabase } from '#src/schema/verification/verify.ts'
import { startWorker } from '#src/worker.ts'
import { askInChild, createWorld, grantTokens } from '#test/auth/provider-tokens/world.ts'
import { countRows, nothingRecorded, send } from '#test/routes/webhooks/send-event.ts'
import { createOrder, createTestInvoice } from '#test/support/callers/objects.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { pgbouncer, startPgbouncer } from '#test/support/database/pgbouncer.ts'
import { rowsOf } from '#test/support/database/rows-of.ts'
import { allowScopes, type TestScope } from '#test/support/database/scope.ts'
import { until } from '#test/support/database/until.ts'

const skip = pgbouncer === null && 'no pgbouncer on this machine: npm does not bring one along'
// Fewer than the clients below, so that transactions share connections.
const serverConnections = 3

t.test('PgBouncer in transaction mode', { skip }, async (t) => {
  t.test(
    'without pgbouncer=true the connection is refused for its startup parameters',
    async (t) => {
      const { database, pooler } = await setUp(t)
      const plain = pooler.through(database.url, { marked: false })
      await t.rejects(verifyDatabase(plain, 'web'), /unsupported startup parameter/)
      t.strictSame(await verifyDatabase(pooler.through(database.url), 'web'), [])
      t.strictSame(await verifyDatabase(pooler.through(database.workerUrl), 'worker'), [])
    },
  )

  t.test('the timeouts are those of the role, which compiles no plans', async (t) => {
    const { database, pooler } = await setUp(t)
    const systemDb = openSystemDatabase(pooler.through(database.url), 1, patient)
    t.teardown(() => systemDb.close())
    const rows = await systemDb.sql`
      SELECT name, setting FROM pg_settings
      WHERE name ~ '^(statement|lock|idle_in_tr\\w+)_timeout$|^jit$' ORDER BY name`
    t.strictSame(rows, [
      { name: 'idle_in_transaction_session_timeout', setting: '10000' },
      { name: 'jit', setting: 'off' },
      { name: 'lock_timeout', setting: '300' },
      { name: 'statement_timeout', setting: '5000' },
    ])
  })

  t.test('parallel tenants on few connections never see each other', async (t) => {
    const { database, pooler } = await setUp(t)
    const entryOf = await allowScopes<TestScope>(database)
    const users = await Promise.all(Array.from({ length: 6 }, () => createUser(database)))
    for (const { tenantId } of users) await createTestInvoice(database, tenantId)
    // They wait for each other, on a busy machine for long.
    const db = openDatabase(pooler.through(database.url), 12, patient)
    t.teardown(() => db.close())
    const backends = new Set<number>()
    const seen = { own: 0, foreign: 0 }
    const count = (tenantId: string, rows: readonly { tenantId: string }[]) => {
      for (const row of rows) seen[row.tenantId === tenantId ? 'own' : 'foreign'] += 1
    }
    const look = async (index: number) => {
      const { tenantId } = users[index % users.length] ?? { tenantId: '' }
      if (index % 4 === 3) {
        const rows = await db.read(
          entryOf({ tenantId }),
          rowsOf<{ tenantId: string }>(Prisma.sql`SELECT tenant_id AS "tenantId" FROM invoices`),
        )
        return count(tenantId, rows)
      }
      const access = index % 3 === 0 ? db.write : db.read
      await access(entryOf({ tenantId }), async (tx) => {
        // Two at once on one connection. Without WHERE: only row-level security limits the rows.
        const [rows, [backend]] = await Promise.all([
          tx.invoice.findMany(),
          tx.sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`,
        ])
        backends.add(backend?.pid ?? 0)
        count(tenantId, rows)
      })
    }
    for (let round = 0; round < 50; round += 1) {
      await Promise.all(Array.from({ length: 12 }, (_, index) => look(round + index)))
    }
    t.strictSame(seen, { own: 600, foreign: 0 })
    t.ok(backends.size > 1 && backends.size <= serverConnections, `${backends.size} backends`)
  })

  t.test('statements of the system database are unnamed', async (t) => {
    const { database, pooler } = await setUp(t)
    const systemDb = openSystemDatabase(pooler.through(database.url), 10, patient)
    t.teardown(() => systemDb.close())
    const look = (value: number) => systemDb.sql<{ value: number }>`SELECT ${value}::int AS value`
    const numbers = Array.from({ length: 200 }, (_, index) => index)
    const answers = await Promise.all(numbers.map(look))
    t.strictSame(
      answers.map(([row]) => row?.value),
      numbers,
    )
    const inside = await systemDb.transaction({ statementTimeoutMs: 500 }, async (tx) => {
      await tx.sql`SELECT ${1}::int AS value`
      return tx.sql`SHOW statement_timeout`
    })
    t.strictSame(inside, [{ statement_timeout: '500ms' }])
  })

  t.test('the whole program: sessions, orders, events and jobs', async (t) => {
    const { database, config, app } = await serve(t)
    const user = await createUser(database, { billingCustomer: 'cus_1' })
    const orderId = await createOrder(database, user)
    const { cookie } = await signIn({ config, database }, user)
    const stranger = await signIn({ config, database }, await createUser(database))
    // More than there are connections, but few enough that a busy machine does not respond with 503.
    for (let round = 0; round < 10; round++) {
      const statuses = await Promise.all(
        [cookie, stranger.cookie, cookie, stranger.cookie, cookie, stranger.cookie].map(
          async (cookie) =>
            (await app.inject({ url: `/orders/${orderId}`, headers: { cookie } })).statusCode,
        ),
      )
      t.strictSame(statuses, [200, 404, 200, 404, 200, 404])
    }

    const charge = { customer: 'cus_1', amount: 4900, currency: 'eur' }
    const ids = Array.from({ length: 30 }, (_, index) => `evt_${index}`)
    const answers = await Promise.all(
      [...ids, ...ids].map((id) =>
        send(app, { id, type: 'charge.succeeded', data: { object: charge } }),
      ),
    )
    t.strictSame(answers.map(({ body }) => body).toSorted(), [
      ...ids.map(() => 'duplicate'),
      ...ids.map(() => 'recorded'),
    ])
    const errors: string[] = []
    const logger = createLogger('error', { write: (line) => void errors.push(line) })
    const worker = await startWorker(config, logger)
    t.teardown(() => worker.stop())
    const processed = `SELECT FROM received_events HAVING every(status = 'processed')`
    await until(database, processed)
    await worker.queue.supervise()
    t.equal((await database.admin.query('SELECT FROM invoices')).rowCount, ids.length)
    t.strictSame(errors, [])
  })

  t.test('of two processes that need a provider’s tokens one refreshes them', async (t) => {
    const world = await createWorld(t)
    await grantTokens(world)
    const pooler = await startPgbouncer(t, world.database.url, serverConnections)
    const database = { ...world.database, url: pooler.through(world.database.url) }
    const children = await Promise.all(
      [1, 2].map(() => askInChild(t, { ...world, database }, 'never', 20)),
    )
    t.same(await Promise.all(children.map(({ ended }) => ended)), [0, 0])
    const lines = children.flatMap((child) => child.output().trim().split('\n'))
    t.equal(lines.length, 40)
    t.same(new Set(lines), new Set([`token ${world.op.records.accessTokens[1]}`]))
    t.equal(world.op.records.presented.length, 1)
  })

  t.test('an event that cannot be recorded within 2 s is 503 and is not recorded', async (t) => {
    const { database, app } = await serve(t)
    const event = { id: 'evt_1', type: 'charge.succeeded' }
    const blocker = await database.admin.connect()
    t.teardown(() => blocker.release())
    await blocker.query('BEGIN; LOCK TABLE processed_events IN ACCESS EXCLUSIVE MODE')
    t.equal((await send(app, event)).statusCode, 503)
    await blocker.query('ROLLBACK')
    t.strictSame(await countRows(database), nothingRecorded)
    t.match(await send(app, event), { statusCode: 200, body: 'recorded' })
  })
})

async function setUp(t: Test) {
  const database = await createDatabase(t)
  const pooler = await startPgbouncer(t, database.url, serverConnections)
  return { database, pooler }
}

async function serve(t: Test) {
  const { database, pooler } = await setUp(t)
  const urls = {
    ...database,
    url: pooler.through(database.url),
    workerUrl: pooler.through(database.workerUrl),
  }
  const config = testConfig(urls)
  const app = await buildApp(config, createLogger('silent'))
  t.teardown(() => app.close())
  return { database, config, app }
}
