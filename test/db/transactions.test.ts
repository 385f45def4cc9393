import { once } from 'node:events'
import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { poolOptions, survivesBrokenConnections } from '#src/db/connections/pool-options.ts'
import { beginTransaction } from '#src/db/connections/transaction.ts'
import { WatchedPool } from '#src/db/connections/watched-pool.ts'
import { openDatabase, type Tx } from '#src/db/database.ts'
import { withoutScope } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { createTestInvoice } from '#test/support/callers/objects.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { openPatiently, patient } from '#test/support/database/open.ts'
import { allowScopes, type TestScope } from '#test/support/database/scope.ts'

const currentScope = `SELECT current_tenant_id()::text AS tenant, current_user_id()::text AS "user",
  current_setting('app.scope', true) AS setting, pg_backend_pid() AS pid`

const nothing = { text: 'SELECT' }

/** Of one connection. */
const openPool = ({ url }: TestDatabase) =>
  survivesBrokenConnections(new WatchedPool(poolOptions(url, 1, patient.limits)))

t.test('there is no query without an entry', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 2)
  const entryOf = await allowScopes<TestScope>(database)
  const mine = await createUser(database)
  const other = await createUser(database)
  await createTestInvoice(database, mine.tenantId)
  t.strictSame(Object.keys(db).toSorted(), ['close', 'read', 'write'])
  for (const access of [db.read, db.write]) {
    const kept = await access(entryOf(other), async (tx) => ({ tx }))
    const late: Record<string, () => Promise<unknown>> = {
      model: () => kept.tx.invoice.count(),
      statement: () => kept.tx.sql`SELECT 1 FROM invoices`,
    }
    for (const [name, query] of Object.entries(late)) {
      await t.rejects(query(), /has ended/, `${name} after its transaction`)
      await access(entryOf(mine), () => t.rejects(query(), /has ended/, `${name} in another one`))
    }
  }
})

t.test('statements of two transactions at once each run in their own', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 2)
  const entryOf = await allowScopes<TestScope>(database)
  const mine = await createUser(database)
  const other = await createUser(database)
  await createTestInvoice(database, mine.tenantId)
  for (const access of [db.read, db.write]) {
    const counts = await access(entryOf(mine), (outer) =>
      access(entryOf(other), (inner) =>
        Promise.all([outer.invoice.count(), inner.invoice.count()]),
      ),
    )
    t.strictSame(counts, [1, 0], 'whichever transaction they are called in')
  }
})

t.test('a connection runs one transaction', async (t) => {
  const database = await createDatabase(t)
  const pool = openPool(database)
  t.teardown(() => pool.end())
  const opened = once(pool, 'connect')
  const begin = () => beginTransaction(pool, 'write', nothing)
  const backend = { text: 'SELECT pg_backend_pid() AS pid' }

  const first = await begin()
  const { rows } = await first.query(backend)
  await first.commit([])
  await t.rejects(first.query({ text: 'SELECT 1' }), /has ended/, 'after COMMIT')

  const second = await begin()
  t.strictSame((await second.query(backend)).rows, rows, 'an idle connection is reused')
  await second.rollback()
  await t.rejects(second.query({ text: 'SELECT 1' }), /has ended/, 'after ROLLBACK')

  const [below] = await opened
  const third = await begin()
  t.strictSame((await third.query(backend)).rows, rows)
  const query = below.query.bind(below)
  below.query = (statement: { text: string }) =>
    query(statement.text === 'COMMIT' ? { text: 'COMMIT AND CHAIN' } : statement)
  await third.commit([])
  const fourth = await begin()
  const other = await fourth.query(backend)
  t.strictNotSame(other.rows, rows, 'a connection still in a transaction is destroyed')
  await fourth.rollback()
})

t.test('the connection’s state is verified', async (t) => {
  const database = await createDatabase(t)
  const pool = openPool(database)
  t.teardown(() => pool.end())
  const tenantId = crypto.randomUUID()
  const entryOf = await allowScopes<TestScope>(database)
  const enter = entryOf({ tenantId, userId: 7 }).statement(true)
  const acquired = once(pool, 'acquire')
  const clean = await beginTransaction(pool, 'write', enter)
  const [below] = await acquired
  await clean.commit([])
  const [left] = (await below.query(currentScope)).rows
  t.match(left, { tenant: null, user: null, setting: '' }, 'the scope ends with its transaction')

  const query = below.query.bind(below)
  t.teardown(() => Object.assign(below, { query }))
  below.query = (statement: { text: string }) =>
    statement.text.startsWith('BEGIN') ? Promise.reject(new Error('cancelled')) : query(statement)
  const broken = await beginTransaction(pool, 'write', enter)
  await t.rejects(broken.entered, /cancelled/)
  const answer = broken.query({ text: 'SELECT 1' })
  await t.rejects(answer, /cancelled/, 'rows read without the scope are discarded')
  await t.rejects(broken.commit([]), /cancelled/)
  await broken.rollback()
})

t.test('a transaction that could not be entered answers nothing', async (t) => {
  const database = await createDatabase(t)
  const { tenantId } = await createUser(database)
  await createTestInvoice(database, tenantId)
  const db = openPatiently(t, database.url, 1)
  const entryOf = await allowScopes<TestScope>(database)
  const failing = { ...entryOf({ tenantId }), statement: () => Prisma.sql`SELECT 1 / 0` }
  let reached = 0
  const work = async () => {
    reached += 1
  }
  for (const access of [db.read, db.write]) {
    await t.rejects(access(failing, work), /division by zero/)
  }
  t.equal(reached, 0, 'no work without a scope')
  t.equal(await db.read(entryOf({ tenantId }), (tx) => tx.invoice.count()), 1, 'and it goes on')
})

t.test('the scope is local to the transaction and gone for the next one', async (t) => {
  const database = await createDatabase(t)
  const entryOf = await allowScopes<TestScope>(database)
  const db = openPatiently(t, database.url, 1)
  const tenantId = crypto.randomUUID()
  for (const access of [db.read, db.write]) {
    const look = (scope: TestScope) =>
      access(entryOf(scope), (tx) => tx.sql<ScopeRow>({ text: currentScope }))
    const [scoped] = await look({ tenantId, userId: 7 })
    t.match(scoped, { tenant: tenantId, user: '7' })
    const [bare] = await access(withoutScope, (tx) => tx.sql<ScopeRow>({ text: currentScope }))
    t.match(bare, { tenant: null, user: null, pid: scoped?.pid }, 'same connection, nothing left')
    t.equal(bare?.setting, '')
    const [half] = await look({ userId: 8 })
    t.match(half, { tenant: null, user: '8', pid: scoped?.pid })
  }
  await t.rejects(
    db.read(withoutScope, (tx) => tx.sql({ text: 'DELETE FROM posts' })),
    /read-only/,
    'a read cannot write',
  )
})

t.test('hand-written statements are held to the same', async (t) => {
  const database = await createDatabase(t)
  const scopeOf = await allowScopes<TestScope>(database)
  const db = openPatiently(t, database.url, 1)
  const user = await createUser(database)
  const { tenantId } = user
  const look = { text: currentScope }
  const rows = await db.write(scopeOf(user), ({ sql }, facts) => {
    t.strictSame(facts, user)
    return sql<ScopeRow>(look)
  })
  t.match(rows, [{ tenant: tenantId, user: String(user.userId) }])
  const bare = await db.write(withoutScope, ({ sql }) => sql<ScopeRow>(look))
  t.match(bare, [{ tenant: null, user: null, pid: rows[0]?.pid }])
  const insert = ({ sql }: Tx) =>
    sql`INSERT INTO posts (tenant_id, title, body) VALUES (${tenantId}::uuid, 'x', 'x')`
  const failing = db.write(scopeOf(user), async (tx) => {
    await insert(tx)
    throw new Error('changed my mind')
  })
  await t.rejects(failing, /changed my mind/)
  const swallowed = db.write(scopeOf(user), async (tx) => {
    await insert(tx)
    await tx.sql`SELECT 1 / 0`.catch(() => {})
  })
  await t.rejects(swallowed, /rolled back/)
  const { kept } = await db.write(scopeOf(user), async (tx) => ({ kept: tx }))
  await t.rejects(insert(kept), /has ended/, 'a late statement runs nowhere')
  t.equal((await database.admin.query('SELECT FROM posts')).rowCount, 0)
  await db.write(scopeOf(user), insert)
  t.equal((await database.admin.query('SELECT FROM posts')).rowCount, 1)
})

t.test('reads are READ ONLY', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 1)
  const { tenantId } = await createUser(database)
  const entryOf = await allowScopes<TestScope>(database)
  const team = { tenantId, name: 'x' }
  await t.rejects(
    db.read(entryOf({ tenantId }), (tx) => tx.team.create({ data: team })),
    /read-only/,
  )
  await db.write(entryOf({ tenantId }), (tx) => tx.team.create({ data: team }))
  t.equal((await database.admin.query('SELECT FROM teams')).rowCount, 1, 'write() may')
})

t.test('the statements of a read see one state of the database', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 1)
  const { tenantId } = await createUser(database)
  const entryOf = await allowScopes<TestScope>(database)
  const counts = await db.read(entryOf({ tenantId }), async (tx) => {
    const before = await tx.team.count()
    await database.admin.query(`INSERT INTO teams (tenant_id, name) VALUES ($1, 'x')`, [tenantId])
    return [before, await tx.team.count()]
  })
  t.strictSame(counts, [0, 0])
  t.equal(await db.read(entryOf({ tenantId }), (tx) => tx.team.count()), 1)
})

t.test('a write that throws is rolled back', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 1)
  const { tenantId } = await createUser(database)
  const entryOf = await allowScopes<TestScope>(database)
  const team = { tenantId, name: 'x' }
  const failing = db.write(entryOf({ tenantId }), async (tx) => {
    await tx.team.create({ data: team })
    throw new Error('changed my mind')
  })
  await t.rejects(failing, /changed my mind/)
  const swallowed = db.write(entryOf({ tenantId }), async (tx) => {
    await tx.team.create({ data: team })
    await tx.sql({ text: 'SELECT 1 / 0' }).catch(() => {})
    return 'looks well'
  })
  await t.rejects(swallowed, /rolled back/, 'a COMMIT with the response ROLLBACK is an error')
  t.equal((await database.admin.query('SELECT FROM teams')).rowCount, 0)
  await db.write(entryOf({ tenantId }), (tx) => tx.team.create({ data: team }))
  t.equal((await database.admin.query('SELECT FROM teams')).rowCount, 1, 'later writes work')
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
    const db = openDatabase(database.url, size, patient)
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

  const db = openPatiently(t, database.url, 2)
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
