import { once } from 'node:events'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { poolOptions, survivesBrokenConnections } from '#src/db/connections/pool-options.ts'
import { WatchedPool } from '#src/db/connections/watched-pool.ts'
import { createDatabase } from '#test/support/database/database.ts'

async function openPool(t: Test, size = 1, acquireMs = 10_000) {
  const database = await createDatabase(t)
  const acquired: boolean[] = []
  const watch = {
    opened() {},
    acquired: (_: number, failed: boolean) => void acquired.push(failed),
  }
  const options = poolOptions(database.url, size, { acquireMs })
  const pool = survivesBrokenConnections(new WatchedPool(options, watch))
  t.teardown(() => (pool.ending ? undefined : pool.end()))
  return { pool, database, acquired }
}

async function backendOf(pool: WatchedPool): Promise<number> {
  const { rows } = await pool.query('SELECT pg_backend_pid() AS pid')
  return rows[0].pid
}

t.test('the next caller gets the connection that became free, without a timer', async (t) => {
  const { pool, acquired } = await openPool(t, 2)
  const pid = await backendOf(pool)
  const armed = mock.method(globalThis, 'setTimeout')
  t.teardown(() => armed.mock.restore())
  const client = await pool.connect()
  t.equal(pool.free, 0)
  client.release()
  t.equal(pool.free, 1)
  t.equal(armed.mock.callCount(), 0)
  armed.mock.restore()
  t.equal(await backendOf(pool), pid)
  t.same(acquired, [false, false, false], 'each is counted')
  t.equal(pool.totalCount, 1)
})

t.test('a caller that waits gets it first', async (t) => {
  const { pool } = await openPool(t)
  const client = await pool.connect()
  const waiting = pool.connect()
  t.equal(pool.callers, 1)
  client.release()
  const next = await waiting
  t.equal(next, client)
  t.equal(pool.free, 0)
  next.release()
})

t.test('it has one holder at a time', async (t) => {
  const { pool } = await openPool(t, 2)
  const client = await pool.connect()
  client.release()
  t.throws(() => client.release(), /released before/)
  const [first, second] = await Promise.all([pool.connect(), pool.connect()])
  t.not(first, second)
  first.release()
  second.release(true)
  t.equal(pool.free, 1)
  t.equal(pool.totalCount, 1, 'one that is not to be used again is closed')
})

t.test('one that breaks while it is free is replaced', async (t) => {
  const { pool, database } = await openPool(t)
  const pid = await backendOf(pool)
  t.equal(pool.free, 1)
  const removed = once(pool, 'remove')
  await database.admin.query('SELECT pg_terminate_backend($1)', [pid])
  await removed
  t.equal(pool.free, 0)
  t.not(await backendOf(pool), pid)
})

t.test('one that breaks in use is not kept, whatever its holder says', async (t) => {
  const { pool, database } = await openPool(t)
  const client = await pool.connect()
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  const ended = new Promise((resolve) => client.once('end', resolve))
  await database.admin.query('SELECT pg_terminate_backend($1)', [rows[0].pid])
  await ended
  client.release()
  t.equal(pool.free, 0)
  t.not(await backendOf(pool), rows[0].pid)
})

t.test('one that nobody uses is closed in time', async (t) => {
  const { pool } = await openPool(t)
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const client = await pool.connect()
  client.release()
  await backendOf(pool)
  t.equal(pool.idleCount, 0)
  mock.timers.tick(1_000)
  mock.timers.tick(10_000)
  t.equal(pool.totalCount, 0)
})

t.test('the pool closes when the last is free', async (t) => {
  const { pool } = await openPool(t, 2)
  const [client, other] = await Promise.all([pool.connect(), pool.connect()])
  other.release()
  const ended = pool.end()
  await t.rejects(pool.connect(), /after calling end/)
  client.release()
  await ended
  t.equal(pool.totalCount, 0)
})
