import { setImmediate as immediately } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { buildApp } from '#src/app.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { sqlOver } from '#src/db/sql.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createLogger } from '#src/observability/logger.ts'
import { descriptions } from '#test/resources/index.ts'
import { insertion } from '#test/schema/table-rows.ts'
import { noon } from '#test/support/app/at-time.ts'
import { createChain } from '#test/support/callers/chain.ts'
import { createOrder, createTestPost } from '#test/support/callers/objects.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { openPatiently, patient } from '#test/support/database/open.ts'
import { type DatabaseProxy, startProxy } from '#test/support/database/postgres-proxy.ts'
import { rowsOf } from '#test/support/database/rows-of.ts'
import { allowScopes, type TestScope } from '#test/support/database/scope.ts'
import { untilTrue } from '#test/support/database/until.ts'

t.test('a read waits for two round trips: its opening, its statement', async (t) => {
  const { proxy, db, entryOf, user } = await openCounted(t)
  const { tenantId } = user
  const read = () =>
    db.read(entryOf(user), async (tx) => {
      await tx.invoice.findFirst({ where: { tenantId } })
      return proxy.roundTrips()
    })
  const first = await read()
  // The COMMIT of a read is sent and not waited for: it is the third trip of each one before.
  const seen = [await read(), await read(), await read(), await read()]
  t.strictSame(
    seen.map((trips) => trips - first),
    [3, 6, 9, 12],
  )
  t.ok(proxy.roundTrips() - first <= 13)
  proxy.cutAt('COMMIT')
  t.equal(typeof (await read()), 'number', 'the answer does not depend on that of the COMMIT')
})

t.test('entry and one statement by id wait for one', async (t) => {
  const { proxy, db, entryOf, user } = await openCounted(t)
  const read = () => db.read(entryOf(user), rowsOf(Prisma.sql`SELECT id FROM invoices`))
  await read()
  proxy.reset()
  await read()
  t.equal(proxy.roundTrips(), 1)
  proxy.reset()
  await db.read(entryOf(user))
  t.equal(proxy.roundTrips(), 1)
})

t.test('a write of one statement waits for three: opening, statement, COMMIT', async (t) => {
  const { proxy, db, entryOf, user } = await openCounted(t)
  const { tenantId } = user
  const write = () =>
    db.write(entryOf(user), (tx) => tx.team.createMany({ data: { tenantId, name: 'x' } }))
  const statement = () => db.write(entryOf(user), ({ sql }) => sql`SELECT 1`)
  for (const work of [write, statement]) {
    await work()
    proxy.reset()
    await work()
    t.equal(proxy.roundTrips(), 3)
  }
})

t.test('what runs with COMMIT costs no round trip, and ends the transaction', async (t) => {
  const { proxy, db, entryOf, user } = await openCounted(t)
  const told: unknown[] = []
  const last = (tx: Tx, text: string) => tx.runWithCommit({ text }, (rows) => told.push(rows))
  const insert = { tenantId: user.tenantId, name: 'x' }
  const write = (...texts: string[]) =>
    db.write(entryOf(user), async (tx) => {
      for (const text of texts) last(tx, text)
      await tx.team.createMany({ data: insert })
      t.strictSame(told, [], 'not yet')
    })
  const names = () => db.read(entryOf(user), (tx) => tx.team.findMany({ select: { name: true } }))
  await write()
  proxy.reset()
  await write(`UPDATE teams SET name = 'y' RETURNING name`, 'SELECT 1 AS one')
  t.equal(proxy.roundTrips(), 3, 'opening, statement, and the rest with COMMIT')
  const changed = [{ name: 'y' }, { name: 'y' }]
  t.strictSame(told.splice(0), [changed, [{ one: 1 }]])
  t.strictSame(await names(), changed, 'it ran after the statement that was sent later')

  await t.rejects(write('SELECT 1', 'SELECT 1 / 0', 'SELECT 2'), { code: '22012' })
  t.strictSame(told, [], 'nothing was committed')
  t.strictSame(await names(), changed)
  await write('SELECT 1 AS one')
  t.strictSame(told.splice(0), [[{ one: 1 }]], 'the connection goes on')

  await t.rejects(
    db.read(entryOf(user), async (tx) => last(tx, 'SELECT 1')),
    /nothing to commit/,
  )
  const { kept } = await db.write(entryOf(user), async (tx) => ({ kept: tx }))
  t.throws(() => last(kept, 'SELECT 1'), /has ended/, 'what would be lost is refused')
})

t.test(
  'a change that needs its row before waits for four round trips, or six elsewhere',
  async (t) => {
    const { database, proxy, config, app } = await openCountedApp(t, noon)
    const department = 'press'
    const user = await createUser(database, { role: 'editor', department })
    const elsewhere = await createUser(database)
    await database.admin.query(
      `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
      [elsewhere.tenantId, user.userId],
    )
    const post = await createTestPost(database, user.tenantId, department)
    const order = await createOrder(database, { ...user, tenantId: elsewhere.tenantId })
    const { cookie } = await signIn({ config, database }, user)
    const origin = config.baseUrl
    // Opening, lock, update, event with COMMIT. In another tenant: one packet that finds no order, then also its tenant.
    for (const [url, trips, payload] of [
      [`/posts/${post}`, 4, { title: 'Another' }],
      [`/orders/${order}`, 6, { shippingAddress: anAddress }],
    ] as const) {
      const headers = { cookie, origin, 'if-match': '*' }
      const patch = () => app.inject({ method: 'PATCH', url, headers, payload })
      t.equal((await patch()).statusCode, 200, url)
      await settled(proxy)
      proxy.reset()
      t.equal((await patch()).statusCode, 200, url)
      t.equal(proxy.roundTrips(), trips, url)
    }
    const { rows } = await database.admin.query(
      'SELECT type FROM outbound_events ORDER BY created_at, sequence',
    )
    t.strictSame(
      rows.map(({ type }) => type),
      ['post.updated', 'post.updated', 'order.updated', 'order.updated'],
    )
  },
)

t.test('a transaction without a scope does not wait for its BEGIN', async (t) => {
  const database = await createDatabase(t)
  const proxy = await startProxy(t, database.url)
  const systemDb = openSystemDatabase(proxy.through(database.url), 1, patient)
  t.teardown(() => systemDb.close())
  const work = () => systemDb.transaction({ statementTimeoutMs: 400 }, (tx) => tx.sql`SELECT 1`)
  await work()
  proxy.reset()
  await work()
  t.equal(proxy.roundTrips(), 2)
})

t.test('a signed-in GET by id waits once, a list at most twice', async (t) => {
  const { database, proxy, config, app } = await openCountedApp(t)
  const { user, cookie, make } = await owner({ app, config, database, log: [] }, { role: 'admin' })
  const { token } = await make()
  // Recording the first use is a statement of its own, which nothing waits for.
  await database.admin.query('UPDATE api_tokens SET last_used_at = now()')
  const facts = { ...user, ...(await createChain(database, user)), department: null }
  const once = ['/me', '/auth/verify?permission=post:write']
  const twice = ['/tenants', '/audit', '/users']
  for (const { path, table, row } of descriptions) {
    const [text, values] = insertion(table, row(facts))
    const { rows } = await database.admin.query(`${text} RETURNING id`, values)
    once.push(`${path}/${rows[0].id}`)
    twice.push(path)
  }
  for (const [kind, headers] of [
    ['session', { cookie }],
    ['token', { authorization: `Bearer ${token}` }],
  ] as const) {
    for (const url of [...once, ...twice]) {
      if (kind === 'token' && url === '/tenants') continue
      const get = async () => (await app.inject({ url, headers })).statusCode
      // Several, so that a connection is free even while the COMMITs of others are being answered.
      const warm = await Promise.all(Array.from({ length: 4 }, get))
      const status = url.startsWith('/auth/verify') ? 204 : 200
      t.strictSame(new Set(warm), new Set([status]), url)
      await settled(proxy)
      proxy.reset()
      // Sent and not waited for: the response comes although the database never answers it.
      proxy.cutAt('COMMIT')
      t.equal(await get(), status, `${kind} ${url} does not wait for its COMMIT`)
      t.equal(proxy.roundTrips(), once.includes(url) ? 1 : 2, `${kind} ${url}`)
      proxy.cutAt('never sent')
    }
  }
})

t.test('a GET asks who is asking in the transaction that reads, and nowhere else', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database, { role: 'admin' })
  const config = testConfig(database)
  const app = await buildApp(config, createLogger('silent'))
  t.teardown(() => app.close())
  const { cookie } = await signIn({ config, database }, user)
  const lookUps: string[] = []
  const { sql } = app.systemDb
  const watched = sqlOver((statement) => {
    lookUps.push(statement.text)
    return sql(statement)
  })
  Object.assign(app.systemDb, { sql: watched })
  for (const url of ['/me', '/orders', '/posts', `/orders/${await createOrder(database, user)}`]) {
    t.equal((await app.inject({ url, headers: { cookie } })).statusCode, 200, url)
  }
  t.strictSame(lookUps, [], 'nothing on the connections without a scope')
})

t.test(
  'a page waits twice however many lists it shows, once more for names of actors',
  async (t) => {
    const { database, proxy, config, app } = await openCountedApp(t)
    const user = await createUser(database, { role: 'admin' })
    const { cookie } = await signIn({ config, database }, user)
    const pages = {
      '/': 2,
      '/app/account': 2,
      '/app/account/tokens': 2,
      '/app/service-tokens': 2,
      '/app/webhooks': 2,
      '/app/documents': 2,
      '/app/tenant': 3,
    }
    for (const [url, trips] of Object.entries(pages)) {
      const get = async () => (await app.inject({ url, headers: { cookie } })).statusCode
      t.strictSame(new Set(await Promise.all([get(), get(), get(), get()])), new Set([200]), url)
      await settled(proxy)
      proxy.reset()
      proxy.cutAt('COMMIT')
      t.equal(await get(), 200, url)
      t.equal(proxy.roundTrips(), trips, url)
      proxy.cutAt('never sent')
    }
  },
)

const anAddress = { name: 'Ada', line1: '1 Quay', city: 'Bath', postalCode: 'BA1', country: 'GB' }

/** A database behind a proxy that counts, with one connection of each kind. */
async function openCounted(t: Test) {
  const database = await createDatabase(t)
  const user = await createUser(database)
  const entryOf = await allowScopes<TestScope>(database)
  const proxy = await startProxy(t, database.url)
  const db = openPatiently(t, proxy.through(database.url), 1)
  return { proxy, db, entryOf, user }
}

/** The server with its database behind such a proxy. */
async function openCountedApp(t: Test, time?: string) {
  const database = await createDatabase(t)
  const proxy = await startProxy(t, database.url)
  const clock = time === undefined ? {} : { clock: { now: () => new Date(time) } }
  const config = { ...testConfig({ ...database, url: proxy.through(database.url) }), ...clock }
  const app = await buildApp(config, createLogger('silent'))
  t.teardown(() => app.close())
  return { database, proxy, config, app }
}

/** Resolves when no connection waits for an answer any more, so the next caller gets one that is open. */
async function settled(proxy: DatabaseProxy): Promise<void> {
  await untilTrue(async () => proxy.isQuiet())
  // The client reads what the proxy has written last.
  await immediately()
  await immediately()
}
