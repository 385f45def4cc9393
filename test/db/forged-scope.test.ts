import { createHash } from 'node:crypto'
import type pg from 'pg'
import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { createDatabase } from '#test/support/database/database.ts'
import {
  addSession,
  connect,
  enterSession,
  inside,
  nobody,
  refusalOf,
  scopeOf,
} from './credentials.ts'

const denied = '42501'

t.test('the detail of a scope cannot put anything into its other parts', async (t) => {
  const { admin } = await createDatabase(t)
  const set = (detail: string) => admin.query(`SELECT set_scope('session', $1, 1, NULL)`, [detail])
  await set('demo/a-1')
  await t.rejects(set('demo:7'), { code: '22023' })
})

t.test('a scope that no credential set in this transaction raises', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database)
  const other = await createUser(database)
  for (const one of [user, other]) await createOrder(database, one)
  const credential = await addSession(database, user)
  const web = await connect(t, database.url)
  const sealed = () =>
    inside(web, async () => {
      await enterSession(web, credential)
      return readSetting(web)
    })

  const tried: [string, (setting: string) => string][] = [
    ['of another user', (setting) => setting.replace(`:${user.userId}:`, `:${other.userId}:`)],
    ['of another tenant', (setting) => setting.replace(user.tenantId, other.tenantId)],
    ['of another kind', (setting) => setting.replace(':session:', ':token:')],
    ['of another key', (setting) => setting.replace(/^\d+/, '2')],
    ['of no key', (setting) => setting.replace(/^\d+/, 'x')],
    ['with a seal that is made up', (setting) => setting.replace(/.{64}$/, 'a'.repeat(64))],
    ['with half a seal', (setting) => setting.slice(0, -32)],
    ['without a seal', (setting) => setting.slice(0, -65)],
    ['with another separator before the seal', (setting) => setting.replace(/:(.{64})$/, ';$1')],
    ['with something after it', (setting) => `${setting} `],
    ['with something before it', (setting) => ` ${setting}`],
    ['that is a single word', () => 'x'],
    ['of colons', () => ':::::::'],
  ]
  for (const [name, change] of tried) {
    await inside(web, async () => {
      await enterSession(web, credential)
      t.same((await web.query('SELECT user_id FROM orders')).rows, [{ user_id: user.userId }])
      await setScope(web, change(await readSetting(web)))
      t.equal(await refusalOf(web.query('SELECT FROM orders')), denied, name)
    })
  }

  const earlier = await sealed()
  for (const table of ['orders', 'tenants', 'posts', 'users', 'sessions', 'memberships']) {
    await inside(web, async () => {
      await setScope(web, earlier)
      const refusal = await refusalOf(web.query(`SELECT FROM ${table}`))
      t.equal(refusal, denied, `an earlier transaction of this backend: ${table}`)
    })
  }
  await web.query(`SELECT set_config('app.scope', $1, false)`, [earlier])
  t.equal(await refusalOf(web.query('SELECT FROM orders')), denied, 'set for the whole session')
  await web.query('RESET app.scope')

  const neighbour = await connect(t, database.url)
  await inside(neighbour, async () => {
    await enterSession(neighbour, credential)
    const theirs = await readSetting(neighbour)
    await inside(web, async () => {
      await setScope(web, theirs)
      t.equal(await refusalOf(web.query('SELECT FROM orders')), denied, 'another backend')
    })
    await inside(web, async () => {
      const backend = await web.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      const fields = theirs.split(':')
      fields[5] = String(backend.rows[0]?.pid)
      await setScope(web, fields.join(':'))
      t.equal(await refusalOf(web.query('SELECT FROM orders')), denied, 'its backend changed')
    })
  })

  await inside(web, async () => {
    const { rows } = await web.query<{ at: string }>(
      `SELECT encode(timestamptz_send(transaction_timestamp()), 'hex') AS at`,
    )
    const fields = earlier.split(':')
    fields[6] = rows[0]?.at ?? ''
    await setScope(web, fields.join(':'))
    t.equal(await refusalOf(web.query('SELECT FROM orders')), denied, 'its time changed')
  })
})

t.test('even a valid seal is for one backend and one transaction', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database)
  const { rows } = await database.admin.query<{ id: number; key: Buffer }>(
    'SELECT id, key FROM scope_keys',
  )
  const [key] = rows
  const web = await connect(t, database.url)
  const tried: [string, (facts: { pid: number; at: string }) => object, string | null][] = [
    ['as it is', () => ({}), null],
    ['another backend', ({ pid }) => ({ pid: pid + 1 }), denied],
    [
      'another start',
      ({ at }) => ({ at: at.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')) }),
      denied,
    ],
  ]
  for (const [name, change, expected] of tried) {
    await inside(web, async () => {
      const facts = await web.query<{ pid: number; at: string }>(
        `SELECT pg_backend_pid() AS pid,
           encode(timestamptz_send(transaction_timestamp()), 'hex') AS at`,
      )
      const [own] = facts.rows
      if (own === undefined || key === undefined) throw new Error('no facts')
      const { pid, at } = { ...own, ...change(own) }
      const content = `${key.id}:session::${user.userId}:${user.tenantId}:${pid}:${at}`
      const inner = createHash('sha256').update(key.key).update(content).digest()
      const seal = createHash('sha256').update(key.key).update(inner).digest('hex')
      await setScope(web, `${content}:${seal}`)
      t.equal(await refusalOf(web.query('SELECT FROM orders')), expected, name)
    })
  }
})

t.test('a seal outlives neither COMMIT nor ROLLBACK; a savepoint takes it back', async (t) => {
  const database = await createDatabase(t)
  const credential = await addSession(database, await createUser(database))
  const web = await connect(t, database.url)
  for (const end of ['COMMIT', 'ROLLBACK', 'COMMIT AND CHAIN']) {
    await web.query('BEGIN')
    await enterSession(web, credential)
    await web.query(end)
    t.strictSame(await scopeOf(web), nobody, end)
  }
  await web.query('ROLLBACK')
  await inside(web, async () => {
    await web.query('SAVEPOINT before')
    await enterSession(web, credential)
    await web.query('ROLLBACK TO before')
    t.strictSame(await scopeOf(web), nobody)
  })
})

t.test('parallel plans ask the leader', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database)
  await createOrder(database, user)
  const credential = await addSession(database, user)
  const web = await connect(t, database.url)
  await inside(web, async () => {
    await enterSession(web, credential)
    await web.query(`SET LOCAL debug_parallel_query = on; SET LOCAL parallel_setup_cost = 0;
      SET LOCAL parallel_tuple_cost = 0; SET LOCAL min_parallel_table_scan_size = 0`)
    t.equal((await web.query('SELECT FROM orders')).rowCount, 1)
  })
})

t.test('a rotation of the keys leaves open transactions alone', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database)
  const credential = await addSession(database, user)
  const web = await connect(t, database.url)
  const worker = await connect(t, database.workerUrl)
  const mine = { userId: user.userId, tenantId: user.tenantId }
  await inside(web, async () => {
    await enterSession(web, credential)
    const before = await readSetting(web)
    await worker.query('SELECT rotate_scope_key()')
    t.strictSame(await scopeOf(web), mine, 'the older key verifies')
    await enterSession(web, credential)
    t.not(before.split(':')[0], (await readSetting(web)).split(':')[0], 'the newest seals')
    t.strictSame(await scopeOf(web), mine)
    await setScope(web, before)
    t.strictSame(await scopeOf(web), mine)
    await worker.query('SELECT rotate_scope_key()')
    t.equal(await refusalOf(scopeOf(web)), denied, 'a key that is gone verifies nothing')
  })
  t.equal((await worker.query('SELECT * FROM list_scope_keys()')).rowCount, 2)
  const { rows } = await database.admin.query<{ bytes: number; distinct: number }>(
    'SELECT min(octet_length(key)) AS bytes, count(DISTINCT key)::int AS distinct FROM scope_keys',
  )
  t.strictSame(rows, [{ bytes: 32, distinct: 2 }])
})

async function readSetting(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ setting: string }>(
    `SELECT current_setting('app.scope') AS setting`,
  )
  return rows[0]?.setting ?? ''
}

async function setScope(client: pg.Client, setting: string): Promise<void> {
  await client.query(`SELECT set_config('app.scope', $1, true)`, [setting])
}
