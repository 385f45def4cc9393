import { once } from 'node:events'
import t from 'tap'
import { poolOptions, survivesBrokenConnections } from '#src/db/connections/pool-options.ts'
import { opening, ScopedPool } from '#src/db/connections/scoped-pool.ts'
import { openDatabase, type Tx } from '#src/db/database.ts'
import { withoutScope } from '#src/db/entry.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { createUser } from '#test/support/callers/callers.ts'
import { createTestInvoice } from '#test/support/callers/objects.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { allowScopes, type TestScope } from '#test/support/database/scope.ts'

const currentScope = `SELECT current_tenant_id()::text AS tenant, current_user_id()::text AS "user",
  current_setting('app.scope', true) AS setting, pg_backend_pid() AS pid`

const nothing = { text: 'SELECT' }

/** Of one connection. */
const openPool = ({ url }: TestDatabase) =>
  survivesBrokenConnections(new ScopedPool(poolOptions(url, 1)))

t.test('a query without a scope is refused', async (t) => {
  const database = await createDatabase(t)
  const pool = openPool(database)
  t.teardown(() => pool.end())
  const refusal = /without an entry/
  await t.rejects(async () => pool.query('SELECT 1'), refusal, 'pool.query')
  await t.rejects(async () => pool.connect(), refusal, 'pool.connect')
  await t.rejects(
    opening('write', nothing, async () => pool.query('SELECT 1')),
    refusal,
    'pool.query is refused even in a scope: it would run outside the transaction',
  )
  t.equal(pool.totalCount, 0, 'no connection was opened')
})

t.test('a connection runs one transaction', async (t) => {
  const database = await createDatabase(t)
  const pool = openPool(database)
  t.teardown(() => pool.end())
  const take = () => opening('write', nothing, () => pool.connect())

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
  const pool = openPool(database)
  t.teardown(() => pool.end())
  const tenantId = crypto.randomUUID()
  const entryOf = await allowScopes<TestScope>(database)
  const enter = entryOf({ tenantId, userId: 7 }).statement(true)
  const take = () => opening('write', enter, () => pool.connect())
  const raw = once(pool, 'acquire')

  const clean = await take()
  const [below] = await raw
  await clean.query({ text: 'BEGIN' })
  await clean.query({ text: 'COMMIT' })
  clean.release()
  const [left] = (await below.query(currentScope)).rows
  t.match(left, { tenant: null, user: null, setting: '' }, 'the scope ends with its transaction')

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

t.test('a transaction that could not be entered answers nothing', async (t) => {
  const database = await createDatabase(t)
  const { tenantId } = await createUser(database)
  await createTestInvoice(database, tenantId)
  const db = openDatabase(database.url, 1)
  t.teardown(() => db.close())
  const entryOf = await allowScopes<TestScope>(database)
  const failing = { ...entryOf({ tenantId }), statement: () => ({ text: 'SELECT 1 / 0' }) }
  let reached = 0
  const work = async () => {
    reached += 1
  }
  for (const access of [db.read, db.write, db.transaction]) {
    await t.rejects(access(failing, work), /division by zero/)
  }
  t.equal(reached, 0, 'no work without a scope')
  t.equal(await db.read(entryOf({ tenantId }), (tx) => tx.invoice.count()), 1, 'and it goes on')
})

t.test('the scope is local to the transaction and gone for the next one', async (t) => {
  const database = await createDatabase(t)
  const entryOf = await allowScopes<TestScope>(database)
  const db = openDatabase(database.url, 1)
  t.teardown(() => db.close())
  const tenantId = crypto.randomUUID()
  for (const access of [db.read, db.write]) {
    const look = (scope: TestScope) =>
      access(entryOf(scope), (tx) => tx.$queryRawUnsafe<ScopeRow[]>(currentScope))
    const [scoped] = await look({ tenantId, userId: 7 })
    t.match(scoped, { tenant: tenantId, user: '7' })
    const [bare] = await access(withoutScope, (tx) => tx.$queryRawUnsafe<ScopeRow[]>(currentScope))
    t.match(bare, { tenant: null, user: null, pid: scoped?.pid }, 'same connection, nothing left')
    t.equal(bare?.setting, '')
    const [half] = await look({ userId: 8 })
    t.match(half, { tenant: null, user: '8', pid: scoped?.pid })
  }
  await t.rejects(
    db.read(withoutScope, (tx) => tx.$executeRawUnsafe('DELETE FROM posts')),
    /read-only/,
    'a read cannot write',
  )
})

t.test('hand-written transactions are held to the same', async (t) => {
  const database = await createDatabase(t)
  const scopeOf = await allowScopes<TestScope>(database)
  const db = openDatabase(database.url, 1)
  t.teardown(() => db.close())
  const user = await createUser(database)
  const { tenantId } = user
  const look = { text: currentScope }
  const { rows } = await db.transaction(scopeOf(user), (connection, facts) => {
    t.strictSame(facts, user)
    return connection.query<ScopeRow>(look)
  })
  t.match(rows, [{ tenant: tenantId, user: String(user.userId) }])
  const bare = await db.transaction(withoutScope, (connection) => connection.query<ScopeRow>(look))
  t.match(bare.rows, [{ tenant: null, user: null, pid: rows[0]?.pid }])
  const insert = {
    text: `INSERT INTO posts (tenant_id, title, body) VALUES ($1, 'x', 'x')`,
    values: [tenantId],
  }
  const failing = db.transaction(scopeOf(user), async (connection) => {
    await connection.query(insert)
    throw new Error('changed my mind')
  })
  await t.rejects(failing, /changed my mind/)
  const swallowed = db.transaction(scopeOf(user), async (connection) => {
    await connection.query(insert)
    await connection.query({ text: 'SELECT 1 / 0' }).catch(() => {})
  })
  await t.rejects(swallowed, /rolled back/)
  let kept: Queryable | undefined
  await db.transaction(scopeOf(user), async (connection) => {
    kept = connection
  })
  await t.rejects(async () => kept?.query(insert), /has ended/, 'a late statement runs nowhere')
  t.equal((await database.admin.query('SELECT FROM posts')).rowCount, 0)
  await db.transaction(scopeOf(user), (connection) => connection.query(insert))
  t.equal((await database.admin.query('SELECT FROM posts')).rowCount, 1)
})

t.test('reads are READ ONLY', async (t) => {
  const database = await createDatabase(t)
  const db = openDatabase(database.url, 1)
  t.teardown(() => db.close())
  const { userId, tenantId } = await createUser(database)
  const entryOf = await allowScopes<TestScope>(database)
  const post = { tenantId, authorId: userId, title: 'x', body: 'x' }
  await t.rejects(
    db.read(entryOf({ tenantId }), (tx) => tx.post.create({ data: post })),
    /read-only/,
  )
  await db.write(entryOf({ tenantId }), (tx) => tx.post.create({ data: post }))
  t.equal((await database.admin.query('SELECT FROM posts')).rowCount, 1, 'write() may')
})

t.test('the statements of a read see one state of the database', async (t) => {
  const database = await createDatabase(t)
  const db = openDatabase(database.url, 1)
  t.teardown(() => db.close())
  const { userId, tenantId } = await createUser(database)
  const entryOf = await allowScopes<TestScope>(database)
  const counts = await db.read(entryOf({ tenantId }), async (tx) => {
    const before = await tx.post.count()
    await database.admin.query(
      `INSERT INTO posts (tenant_id, author_id, title, body) VALUES ($1, $2, 'x', 'x')`,
      [tenantId, userId],
    )
    return [before, await tx.post.count()]
  })
  t.strictSame(counts, [0, 0])
  t.equal(await db.read(entryOf({ tenantId }), (tx) => tx.post.count()), 1)
})

t.test('a write that throws is rolled back', async (t) => {
  const database = await createDatabase(t)
  const db = openDatabase(database.url, 1)
  t.teardown(() => db.close())
  const { userId, tenantId } = await createUser(database)
  const entryOf = await allowScopes<TestScope>(database)
  const post = { tenantId, authorId: userId, title: 'x', body: 'x' }
  const failing = db.write(entryOf({ tenantId }), async (tx) => {
    await tx.post.create({ data: post })
    throw new Error('changed my mind')
  })
  await t.rejects(failing, /changed my mind/)
  const swallowed = db.write(entryOf({ tenantId }), async (tx) => {
    await tx.post.create({ data: post })
    await tx.$queryRawUnsafe('SELECT 1 / 0').catch(() => {})
    return 'looks well'
  })
  await t.rejects(swallowed, /rolled back/, 'a COMMIT with the response ROLLBACK is an error')
  t.equal((await database.admin.query('SELECT FROM posts')).rowCount, 0)
  await db.write(entryOf({ tenantId }), (tx) => tx.post.create({ data: post }))
  t.equal((await database.admin.query('SELECT FROM posts')).rowCount, 1, 'later writes work')
})

t.test('two tenants on the same connections never see each other', async (t) => {
  const database = await createDatabase(t)
  const entryOf = await allowScopes<TestScope>(database)
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
      const rows = await access(entryOf({ tenantId }), (tx) => tx.invoice.findMany())
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
    db.read(entryOf({ tenantId }), (tx) =>
      tx.invoice.findFirst({ where: { tenantId: owner, id: ids.get(owner) ?? 0 } }),
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
        'reads of two tenants in the same tick do not mix',
      )
    }
  }
})

// @ts-expect-error Prisma would merge the findUnique calls of different people: no domain function can call it
t.type(({ invoice }: Tx) => invoice.findUnique, Function)

type ScopeRow = { tenant: string | null; user: string | null; setting: string; pid: number }
