import pg from 'pg'
import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { OneTrip, type Statement, sendOnce, UnreadableRow } from '#src/db/connections/one-trip.ts'
import { openPacketPool } from '#src/db/connections/packet-pool.ts'
import { nameStatements } from '#src/db/sql.ts'
import { createDeadlines } from '#src/runtime/deadlines.ts'
import { createTestInvoice } from '#test/support/callers/objects.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { pgbouncer, startPgbouncer } from '#test/support/database/pgbouncer.ts'
import { type DatabaseProxy, startProxy } from '#test/support/database/postgres-proxy.ts'
import { addSession, idleSeconds } from './credentials.ts'

const skip = pgbouncer === null && 'no pgbouncer on this machine: npm does not bring one along'

const enter = (credential: Buffer): Statement => ({
  name: 'enter',
  text: 'SELECT user_id FROM enter_session($1, $2, $3)',
  values: [credential, idleSeconds, false],
})
const invoices: Statement = { name: 'invoices', text: 'SELECT tenant_id FROM invoices' }

t.test('each statement has its rows, read as the driver reads them', async (t) => {
  const { pool } = await setUp(t)
  for (const round of [1, 2, 3]) {
    const [types, none, rows, written] = await pool.sendOnce<[object, object, object, object]>([
      {
        name: 'types',
        text: `SELECT $1::int AS int, $2::bigint AS big, $3::text AS text, $4::bytea AS bytes,
                 $5::boolean AS yes, $6::timestamptz AS at, $7::text AS none, ARRAY['a'] AS list`,
        values: [1, 2n, 'x', Buffer.from([1, 2]), true, new Date(0), null],
      },
      { name: 'none', text: 'SELECT 1 AS one WHERE false' },
      { name: 'rows', text: 'SELECT n FROM generate_series(1, 3) AS n' },
      { text: 'SET LOCAL work_mem = 1024' },
    ])
    t.strictSame(types, [
      {
        int: 1,
        big: '2',
        text: 'x',
        bytes: Buffer.from([1, 2]),
        yes: true,
        at: new Date(0),
        none: null,
        list: ['a'],
      },
    ])
    t.strictSame([none, rows, written], [[], [{ n: 1 }, { n: 2 }, { n: 3 }], []], `round ${round}`)
  }
})

t.test('an array has the elements that were sent', async (t) => {
  const { pool } = await setUp(t)
  const texts = ['', 'a,b', '{"\\}', 'NULL', null]
  const bytes = [Buffer.from([0, 92, 255]), Buffer.alloc(0), null]
  const [rows] = await pool.sendOnce([
    {
      text: 'SELECT $1::text[] AS texts, $2::bytea[] AS bytes, $3::int[] AS numbers, $4::text[] AS none',
      values: [texts, bytes, [1, -2, null], []],
    },
  ])
  t.strictSame(rows, [{ texts, bytes, numbers: [1, -2, null], none: [] }])
  const nested = { text: 'SELECT $1::int[] AS nested', values: [[[1]]] }
  await t.rejects(pool.sendOnce([nested]), TypeError)
})

t.test('credential and row are one packet out and one in', async (t) => {
  const { database, pool, proxy } = await setUp(t)
  const user = await createUser(database)
  await createTestInvoice(database, user.tenantId)
  await createTestInvoice(database, (await createUser(database)).tenantId)
  const credential = await addSession(database, user)
  const read = () => pool.sendOnce<[object, object]>([enter(credential), invoices])
  const expected = [[{ user_id: String(user.userId) }], [{ tenant_id: user.tenantId }]]
  t.strictSame(await read(), expected)
  proxy.reset()
  t.strictSame(await read(), expected)
  t.equal(proxy.roundTrips(), 1)
  t.strictSame(
    await pool.sendOnce<[object, object]>([enter(Buffer.alloc(32)), invoices]),
    [[], []],
    'without a live credential there is nothing to read',
  )
  t.strictSame(await pool.sendOnce<[object]>([invoices]), [[]], 'and nothing of a scope stays')
})

t.test('a statement is prepared once on each connection', async (t) => {
  const { pool } = await setUp(t)
  const read = () =>
    pool.sendOnce<[object, { names: string[] }]>([
      { name: 'one', text: 'SELECT 1 AS one' },
      { text: 'SELECT array_agg(name ORDER BY name) AS names FROM pg_prepared_statements' },
    ])
  for (const _ of [1, 2, 3]) t.strictSame((await read())[1], [{ names: ['one'] }])
  const [[changed]] = await pool.sendOnce<[object]>([{ name: 'one', text: 'SELECT 2 AS two' }])
  t.strictSame(changed, { two: 2 }, 'another text under the name takes its place')
})

t.test('a failure takes everything back, and the connection goes on', async (t) => {
  const { database, pool } = await setUp(t)
  const one: Statement = { name: 'one', text: 'SELECT 1 AS one' }
  const failing: Statement = { name: 'failing', text: 'SELECT 1 / $1::int AS one', values: [0] }
  const broken: Statement = { name: 'broken', text: 'SELECT FROM nothing_of_this_name' }
  for (const _ of [1, 2]) {
    await t.rejects(pool.sendOnce([one, failing, { name: 'late', text: 'SELECT 3' }]), {
      code: '22012',
    })
    await t.rejects(pool.sendOnce([broken]), { code: '42P01' })
    t.strictSame(await pool.sendOnce([one, { ...failing, values: [1] }]), [
      [{ one: 1 }],
      [{ one: 1 }],
    ])
  }
  await database.admin.query('CREATE TABLE changing (id int); GRANT SELECT ON changing TO test_app')
  const changing: Statement = { name: 'changing', text: 'SELECT * FROM changing' }
  t.strictSame(await pool.sendOnce([changing]), [[]])
  await database.admin.query('ALTER TABLE changing ADD COLUMN name text')
  await t.rejects(pool.sendOnce([changing]), { code: '0A000' })
  t.strictSame(await pool.sendOnce([changing]), [[]], 'its plan is made again')
})

t.test('nothing is written', async (t) => {
  const { database, pool } = await setUp(t)
  const credential = await addSession(database, await createUser(database))
  await t.rejects(
    pool.sendOnce([enter(credential), { text: `UPDATE memberships SET role = 'viewer'` }]),
    { code: '25006' },
  )
})

t.test('what cannot be sent or read is refused, and the pool goes on', async (t) => {
  const { pool, database } = await setUp(t)
  await t.rejects(pool.sendOnce([{ text: 'SELECT $1::text', values: [{}] }]), TypeError)
  t.strictSame(await pool.sendOnce([{ text: 'SELECT 1 AS one' }]), [[{ one: 1 }]])
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  t.teardown(() => client.end())
  const send = (...texts: string[]) =>
    sendOnce(
      client,
      texts.map((text) => ({ text })),
      createDeadlines(10_000),
    )
  client.setTypeParser(pg.types.builtins.INT4, () => {
    throw new Error('unreadable')
  })
  const unread = await send('SELECT 1', 'SELECT 2').catch((error: unknown) => error)
  t.ok(unread instanceof UnreadableRow, 'the packet was carried out')
  t.match(unread, { message: 'unreadable', position: 0 })
  t.strictSame(await send(`SELECT 'x' AS x`), [[{ x: 'x' }]])
  await t.rejects(send('COPY (SELECT 1) TO STDOUT').then(fail))
  t.ok(new OneTrip(client, [], () => {}))
})

t.test('a server that is silent is given up', async (t) => {
  const { proxy, database } = await setUp(t)
  const pool = openPacketPool(proxy.through(database.url), 1, {
    access: 'read',
    limits: { silenceMs: 300 },
  })
  t.teardown(() => pool.close())
  t.strictSame(await pool.sendOnce([{ text: 'SELECT 1 AS one' }]), [[{ one: 1 }]])
  proxy.silence()
  await t.rejects(pool.sendOnce([{ text: 'SELECT 1 AS one' }]), { code: 'ETIMEDOUT' })
  proxy.resume()
  t.strictSame(await pool.sendOnce([{ text: 'SELECT 2 AS two' }]), [[{ two: 2 }]])
})

t.test('a connection that is killed fails its read alone', async (t) => {
  const { database, pool } = await setUp(t)
  await t.rejects(
    pool.sendOnce([
      { text: 'SELECT 1' },
      { text: 'SELECT pg_terminate_backend(pg_backend_pid())' },
    ]),
  )
  t.strictSame(await pool.sendOnce([{ text: 'SELECT 2 AS two' }]), [[{ two: 2 }]])
  await database.admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND usename = 'test_app'`)
  await t.resolves(
    pool.sendOnce([{ text: 'SELECT 2 AS two' }]).catch(() => pool.sendOnce([{ text: 'SELECT 1' }])),
  )
})

for (const through of ['PostgreSQL', 'PgBouncer'] as const) {
  const options = { skip: through === 'PgBouncer' && skip }
  t.test(`parallel people never see each other: ${through}`, options, async (t) => {
    const database = await createDatabase(t)
    const url =
      through === 'PgBouncer'
        ? (await startPgbouncer(t, database.url, 3)).through(database.url)
        : database.url
    const pool = openPacketPool(url, 8, { access: 'read', ...patient })
    t.teardown(() => pool.close())
    const nameOf = nameStatements(url)
    const named = (statement: Statement) => ({ ...statement, name: nameOf(statement.text) })
    const people = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const user = await createUser(database)
        await createTestInvoice(database, user.tenantId)
        return { user, credential: await addSession(database, user) }
      }),
    )
    const seen = { own: 0, foreign: 0 }
    const look = async (turn: number) => {
      const person = people[turn % people.length]
      if (person === undefined) return
      if (turn % 7 === 0) await pool.sendOnce([{ text: 'SELECT 1 / 0' }]).catch(() => {})
      const [, rows] = await pool.sendOnce<[object, { tenant_id: string }]>([
        named(enter(person.credential)),
        named(invoices),
      ])
      for (const row of rows) {
        seen[row.tenant_id === person.user.tenantId ? 'own' : 'foreign'] += 1
      }
    }
    await Promise.all(Array.from({ length: 300 }, (_, turn) => look(turn)))
    t.strictSame(seen, { own: 300, foreign: 0 })
    await t.rejects(pool.sendOnce([{ text: 'CREATE TABLE x ()' }]), { code: '25006' })
    t.strictSame(await pool.sendOnce([named(invoices)]), [[]])
  })
}

async function setUp(t: Test): Promise<{
  database: Awaited<ReturnType<typeof createDatabase>>
  proxy: DatabaseProxy
  pool: ReturnType<typeof openPacketPool>
}> {
  const database = await createDatabase(t)
  const proxy = await startProxy(t, database.url)
  const pool = openPacketPool(proxy.through(database.url), 1, { access: 'read' })
  t.teardown(() => pool.close())
  return { database, proxy, pool }
}

function fail(): never {
  throw new Error('COPY answered')
}
