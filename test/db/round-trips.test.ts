import { setImmediate as immediately } from 'node:timers/promises'
import t from 'tap'
import { buildApp } from '#src/app.ts'
import type { ContextMode } from '#src/config/config.ts'
import { openDatabase } from '#src/db/database.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createLogger } from '#src/observability/logger.ts'
import {
  createDatabase,
  createOrder,
  createTestInvoice,
  createUser,
  signIn,
  type TestDatabase,
  testConfig,
} from '#test/support/helper.ts'
import { startProxy } from '#test/support/postgres-proxy.ts'

const modes: ContextMode[] = ['set-local', 'set-config']

t.test('a scoped read waits for one round trip, including BEGIN', async (t) => {
  for (const mode of modes) {
    const database = await createDatabase(t)
    const { tenantId } = await createUser(database)
    const proxy = await startProxy(t, database.url)
    const db = openDatabase(proxy.through(database.url), 1, mode)
    t.teardown(() => db.close())
    const read = () =>
      db.read({ tenantId }, async (tx) => {
        await tx.invoice.findFirst({ where: { tenantId } })
        return proxy.roundTrips()
      })
    const first = await read()
    // A read does not wait for its COMMIT, which is the second round trip of the read before.
    const seen = [await read(), await read(), await read(), await read()]
    t.strictSame(
      seen.map((trips) => trips - first),
      [2, 4, 6, 8],
    )
    t.ok(proxy.roundTrips() - first <= 9)
    proxy.cutAt('COMMIT')
    t.equal(typeof (await read()), 'number', 'the result does not wait for the COMMIT')
  }
})

t.test('a signed-in read waits for two round trips: session and scoped read', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database, { role: 'admin' })
  const proxy = await startProxy(t, database.url)
  const config = testConfig({ ...database, url: proxy.through(database.url) })
  const app = await buildApp(config, createLogger('silent'))
  t.teardown(() => app.close())
  const { cookie } = await signIn({ config, database }, user)
  const lookUps: string[] = []
  const { query } = app.systemDb
  app.systemDb.query = (statement) => {
    lookUps.push(statement.text)
    return query(statement)
  }
  const inOnePacket = [
    `/orders/${await createOrder(database, user)}`,
    `/invoices/${await createTestInvoice(database, user.tenantId)}`,
  ]
  for (const url of [...inOnePacket, '/tenants', '/audit', '/me']) {
    const get = async () => (await app.inject({ url, headers: { cookie } })).statusCode
    t.equal(await get(), 200, url)
    await settled(database)
    proxy.reset()
    lookUps.length = 0
    // Sent and not waited for: the answer comes although nothing ever answers it. Where it leaves
    // in one packet with the statement it cannot be cut off alone.
    if (!inOnePacket.includes(url)) proxy.cutAt('COMMIT')
    t.equal(await get(), 200, `${url} does not wait for its COMMIT`)
    t.equal(proxy.roundTrips(), 2, url)
    t.match(lookUps, [/FROM sessions[\s\S]*JOIN users[\s\S]*JOIN memberships/])
    t.equal(lookUps.length, 1, 'one statement reads session, user, role and department')
    proxy.cutAt('never sent')
  }
})

t.test(
  'a scoped write of one statement waits for two round trips: statement and COMMIT',
  async (t) => {
    const database = await createDatabase(t)
    const { userId, tenantId } = await createUser(database)
    const proxy = await startProxy(t, database.url)
    const db = openDatabase(proxy.through(database.url), 1)
    t.teardown(() => db.close())
    const write = () =>
      db.write({ tenantId }, (tx) =>
        tx.post.createMany({ data: { tenantId, authorId: userId, title: 'x', body: 'x' } }),
      )
    await write()
    proxy.reset()
    await write()
    t.equal(proxy.roundTrips(), 2)
  },
)

t.test('a transaction of the system database does not wait for its BEGIN', async (t) => {
  const database = await createDatabase(t)
  const proxy = await startProxy(t, database.url)
  const systemDb = openSystemDatabase(proxy.through(database.url), 1)
  t.teardown(() => systemDb.close())
  const work = () =>
    systemDb.transaction({ statementTimeoutMs: 400 }, (tx) => tx.query({ text: 'SELECT 1' }))
  await work()
  proxy.reset()
  await work()
  t.equal(proxy.roundTrips(), 2)
})

/** Resolves when no connection of the program waits for a response. */
async function settled({ admin }: TestDatabase): Promise<void> {
  const busy = `SELECT FROM pg_stat_activity WHERE datname = current_database()
    AND usename = 'test_app' AND state <> 'idle'`
  while ((await admin.query(busy)).rowCount !== 0);
  await immediately()
}
