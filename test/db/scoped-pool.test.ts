import { once } from 'node:events'
import t from 'tap'
import { openDatabase, type Scope } from '#src/db/database.ts'
import { poolOptions } from '#src/db/pool-options.ts'
import { inScope, ScopedPool } from '#src/db/scoped-pool.ts'
import { createDatabase, createTestInvoice, createUser } from '#test/support/helper.ts'

const currentScope = `SELECT current_setting('app.tenant_id', true) AS tenant,
  current_setting('app.user_id', true) AS "user", pg_backend_pid() AS pid`

t.test('a query without a scope is refused', async (t) => {
  const database = await createDatabase(t)
  const pool = new ScopedPool(poolOptions(database.url, 1))
  t.teardown(() => pool.end())
  const refusal = /without a scope/
  await t.rejects(async () => pool.query('SELECT 1'), refusal, 'pool.query')
  await t.rejects(async () => pool.connect(), refusal, 'pool.connect')
  await t.rejects(
    inScope({}, 'write', async () => pool.query('SELECT 1')),
    refusal,
    'pool.query is refused even in a scope: it would run outside the transaction',
  )
  t.equal(pool.totalCount, 0, 'no connection was opened')
})

t.test('a connection runs one transaction', async (t) => {
  const database = await createDatabase(t)
  const pool = new ScopedPool(poolOptions(database.url, 1))
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  const take = () => inScope({}, 'write', () => pool.connect())

  const first = await take()
  await t.rejects(first.query({ text: 'SELECT 1' }), /outside a transaction/, 'before BEGIN')
  await first.query({ text: 'BEGIN' })
  const { rows } = await first.query({ text: 'SELECT pg_backend_pid() AS pid' })
  await first.query({ text: 'COMMIT' })
  await t.rejects(first.query({ text: 'SELECT 1' }), /has ended/, 'after COMMIT')
  first.release()
  await t.rejects(first.query({ text: 'SELECT 1' }), /has ended/, 'after release')

  const second = await take()
  await second.query({ text: 'BEGIN' })
  const again = await second.query({ text: 'SELECT pg_backend_pid() AS pid' })
  t.equal(again.rows[0].pid, rows[0].pid, 'an idle connection is reused')
  second.release()
  const third = await take()
  await third.query({ text: 'BEGIN' })
  const other = await third.query({ text: 'SELECT pg_backend_pid() AS pid' })
  t.not(other.rows[0].pid, rows[0].pid, 'a connection released inside its transaction is destroyed')
  await third.query({ text: 'ROLLBACK' })
  third.release()
})

t.test('the connection’s state is verified', async (t) => {
  const database = await createDatabase(t)
  const pool = new ScopedPool(poolOptions(database.url, 1))
  t.teardown(() => pool.end())
  const tenantId = crypto.randomUUID()
  const take = () => inScope({ tenantId, userId: 7 }, 'write', () => pool.connect())
  const raw = once(pool, 'acquire')

  const clean = await take()
  const [below] = await raw
  await clean.query({ text: 'BEGIN' })
  await clean.query({ text: 'COMMIT' })
  clean.release()
  const [left] = (await below.query(currentScope)).rows
  t.match(left, { tenant: '', user: '' }, 'the scope ends with its transaction')

  const reopened = await take()
  await reopened.query({ text: 'BEGIN' })
  await reopened.query({ text: 'COMMIT' })
  await below.query('BEGIN')
  reopened.release()
  const next = once(pool, 'acquire')
  const broken = await take()
  const [other] = await next
  t.not(other.processID, below.processID, 'a connection in a transaction is destroyed')

  const query = other.query.bind(other)
  t.teardown(() => Object.assign(other, { query }))
  other.query = (statement: { text: string }) =>
    statement.text.startsWith('BEGIN') ? Promise.reject(new Error('cancelled')) : query(statement)
  await broken.query({ text: 'BEGIN' })
  const answer = broken.query({ text: 'SELECT 1' })
  await t.rejects(answer, /cancelled/, 'rows read without the scope are discarded')
  await t.rejects(broken.query({ text: 'COMMIT' }), /cancelled/)
  broken.release()
})

t.test('the scope is local to the transaction', async (t) => {
  const database = await createDatabase(t)
  for (const mode of ['set-local', 'set-config'] as const) {
    const db = openDatabase(database.url, 1, mode)
    t.teardown(() => db.close())
    const tenantId = crypto.randomUUID()
    for (const access of [db.read, db.write]) {
      const look = (scope: Scope) =>
        access(scope, (tx) => tx.$queryRawUnsafe<ReadinessCheck[]>(currentScope))
      const [scoped] = await look({ tenantId, userId: 7 })
      t.match(scoped, { tenant: tenantId, user: '7' }, mode)
      const [bare] = await look({})
      t.match(bare, { tenant: '', user: '', pid: scoped?.pid }, 'same connection, no scope')
      const [half] = await look({ userId: 8 })
      t.match(half, { tenant: '', user: '8', pid: scoped?.pid })
    }
    const change = 'DELETE FROM posts'
    await t.rejects(
      db.read({}, (tx) => tx.$executeRawUnsafe(change)),
      /read-only/,
      `${mode}: a read cannot write`,
    )
  }
})

t.test('a scope with a malformed id is refused before any SQL', async (t) => {
  const database = await createDatabase(t)
  // No server listens there: an attempt to connect would fail differently.
  const db = openDatabase('postgres://nobody@127.0.0.1:1/none', 1)
  t.teardown(() => db.close())
  const id = crypto.randomUUID()
  const tenants = [
    `'; DROP TABLE posts; --`,
    `${id}'; SELECT 1; --`,
    `${id}\n`,
    ` ${id}`,
    `x'; SELECT '${id}`,
    id.toUpperCase(),
    `{${id}}`,
    id.replaceAll('-', ''),
    '',
  ]
  for (const tenantId of tenants) {
    await t.rejects(db.read({ tenantId }, nothing), /names no tenant/, JSON.stringify(tenantId))
  }
  const notANumber: number = JSON.parse(`"1'; DROP TABLE posts; --"`)
  for (const userId of [0, -1, 1.5, NaN, Infinity, 2 ** 53, notANumber]) {
    await t.rejects(db.write({ userId }, nothing), /names no user/, String(userId))
  }
  t.equal((await database.admin.query('SELECT FROM posts')).rowCount, 0)
})

t.test('reads are READ ONLY', async (t) => {
  const database = await createDatabase(t)
  const db = openDatabase(database.url, 1)
  t.teardown(() => db.close())
  const { userId, tenantId } = await createUser(database)
  const post = { tenantId, authorId: userId, title: 'x', body: 'x' }
  await t.rejects(
    db.read({ tenantId }, (tx) => tx.post.create({ data: post })),
    /read-only/,
  )
  await db.write({ tenantId }, (tx) => tx.post.create({ data: post }))
  t.equal((await database.admin.query('SELECT FROM posts')).rowCount, 1, 'write() may')
})

t.test('a write that throws is rolled back', async (t) => {
  const database = await createDatabase(t)
  const db = openDatabase(database.url, 1)
  t.teardown(() => db.close())
  const { userId, tenantId } = await createUser(database)
  const post = { tenantId, authorId: userId, title: 'x', body: 'x' }
  const failing = db.write({ tenantId }, async (tx) => {
    await tx.post.create({ data: post })
    throw new Error('changed my mind')
  })
  await t.rejects(failing, /changed my mind/)
  const swallowed = db.write({ tenantId }, async (tx) => {
    await tx.post.create({ data: post })
    await tx.$queryRawUnsafe('SELECT 1 / 0').catch(() => {})
    return 'looks well'
  })
  await t.rejects(swallowed, /rolled back/, 'a COMMIT with the response ROLLBACK is an error')
  t.equal((await database.admin.query('SELECT FROM posts')).rowCount, 0)
  await db.write({ tenantId }, (tx) => tx.post.create({ data: post }))
  t.equal((await database.admin.query('SELECT FROM posts')).rowCount, 1, 'later writes work')
})

t.test('two tenants on the same connections never see each other', async (t) => {
  const database = await createDatabase(t)
  const mine = await createUser(database)
  const yours = await createUser(database)
  const ids = new Map<string, number>()
  for (const { tenantId } of [mine, yours]) {
    ids.set(tenantId, await createTestInvoice(database, tenantId))
  }
  for (const size of [1, 2]) {
    const db = openDatabase(database.url, size)
    t.teardown(() => db.close())
    let foreign = 0
    let own = 0
    const look = async (index: number) => {
      const { tenantId } = index % 2 === 0 ? mine : yours
      const access = index % 3 === 0 ? db.write : db.read
      // Without WHERE: only row-level security limits the rows.
      const rows = await access({ tenantId }, (tx) => tx.invoice.findMany())
      for (const row of rows) {
        if (row.tenantId === tenantId) own += 1
        else foreign += 1
      }
    }
    for (let index = 0; index < 100; index += 1) await look(index)
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(Array.from({ length: 20 }, (_, index) => look(round + index)))
    }
    t.strictSame({ foreign, own }, { foreign: 0, own: 500 }, `a pool of ${size}`)
  }

  const db = openDatabase(database.url, 2)
  t.teardown(() => db.close())
  const find = ({ tenantId }: { tenantId: string }, owner: string) =>
    db.read({ tenantId }, (tx) =>
      tx.invoice.findUnique({
        where: { tenantId_id: { tenantId: owner, id: ids.get(owner) ?? 0 } },
      }),
    )
  for (let round = 0; round < 50; round += 1) {
    const found = await Promise.all([
      find(mine, mine.tenantId),
      find(yours, yours.tenantId),
      find(mine, yours.tenantId),
      find(yours, mine.tenantId),
    ])
    const tenants = found.map((row) => row?.tenantId)
    if (round === 0 || tenants.join() !== [mine.tenantId, yours.tenantId, '', ''].join()) {
      t.strictSame(
        tenants,
        [mine.tenantId, yours.tenantId, undefined, undefined],
        'findUnique of two tenants in the same tick does not mix',
      )
    }
  }
})

type ReadinessCheck = { tenant: string; user: string; pid: number }

async function nothing(): Promise<void> {}
