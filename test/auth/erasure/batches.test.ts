import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { measureErasures } from '#src/auth/erasure/work.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { connect } from '#test/db/credentials.ts'
import { build } from '#test/support/app/app.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'
import { eraseAll } from './support.ts'

/** For the tests that look at tenants of their own only. */
const test = await build(t)

const rows = 5
const batch = 2

t.test(
  'the posts of a former member lose their author in batches, and another worker goes on',
  async (t) => {
    const { database } = test
    const { user, send } = await owner(test, { role: 'admin' })
    const member = await createUser(database, { role: 'admin' })
    const join = `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'editor')`
    await database.admin.query(join, [user.tenantId, member.userId])
    await database.admin.query(
      `INSERT INTO posts (tenant_id, author_id, title, body)
       SELECT $1, $2, 'x', 'x' FROM generate_series(1, $3::int)`,
      [user.tenantId, member.userId, rows],
    )
    t.equal((await send('DELETE', `/users/${member.userId}`)).statusCode, 204)
    t.strictSame(await openErasures(database), { member: 1 })
    const left = async () =>
      (await database.admin.query('SELECT FROM posts WHERE author_id = $1', [member.userId]))
        .rowCount
    const lost = await connect(t, database.workerUrl)
    t.equal(await work(lost, database), false)
    t.equal(await left(), rows - batch, 'one batch')
    const next = await connect(t, database.workerUrl)
    const claimed = 'SELECT claim_erasure(0, 20) AS id'
    t.strictSame((await next.query(claimed)).rows, [{ id: null }], 'it is worked on')
    await database.admin.query(`UPDATE erasures SET worked_at = now() - interval '20 s'`)
    t.equal(await work(next, database), false)
    t.equal(await work(next, database), true)
    t.equal(await left(), 0)
    t.strictSame(await openErasures(database), {})
  },
)

t.test('a command is done once nothing is left, also of what a worker erases now', async (t) => {
  const { database } = test
  const { user, send } = await owner(test, { role: 'admin' })
  const id = await createEndpoint(database, user, { url: 'https://a.example/' })
  await fillHistory(database, user.tenantId, id)
  t.equal((await send('DELETE', `/webhook-endpoints/${id}`)).statusCode, 204)
  const worker = await connect(t, database.workerUrl)
  await worker.query('BEGIN')
  t.equal(await work(worker, database), false)
  const erasing = eraseAll(database)
  await Promise.race([erasing, wait(500)])
  await worker.query('COMMIT')
  await erasing
  t.equal((await database.admin.query('SELECT FROM deliveries')).rowCount, 0)
})

t.test('who is a member again keeps what they wrote', async (t) => {
  const { database } = test
  const { user, send } = await owner(test, { role: 'admin' })
  const member = await createUser(database, { role: 'admin' })
  const join = `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'editor')`
  await database.admin.query(join, [user.tenantId, member.userId])
  await database.admin.query(
    `INSERT INTO posts (tenant_id, author_id, title, body) VALUES ($1, $2, 'x', 'x')`,
    [user.tenantId, member.userId],
  )
  t.equal((await send('DELETE', `/users/${member.userId}`)).statusCode, 204)
  await database.admin.query(join, [user.tenantId, member.userId])
  await eraseAll(database)
  const { rowCount } = await database.admin.query('SELECT FROM posts WHERE author_id = $1', [
    member.userId,
  ])
  t.equal(rowCount, 1)
})

t.test('the history of a deleted endpoint is hidden at once and goes in batches', async (t) => {
  const { database } = test
  const { user, send } = await owner(test, { role: 'admin' })
  const [gone, kept] = [
    await createEndpoint(database, user, { url: 'https://a.example/' }),
    await createEndpoint(database, user, { url: 'https://b.example/' }),
  ]
  for (const endpointId of [gone, kept]) await fillHistory(database, user.tenantId, endpointId)
  const { data: before } = (await send('GET', '/notifications')).json()
  t.equal(before.length, 2 * rows)
  const { rows: ids } = await database.admin.query<{ id: string }>(
    'SELECT id FROM deliveries WHERE endpoint_id = $1 LIMIT 1',
    [gone],
  )
  const { rows: replays } = await database.admin.query<{ id: string }>(
    'SELECT id FROM endpoint_replays WHERE endpoint_id = $1 LIMIT 1',
    [gone],
  )
  const history = [
    `/deliveries/${ids[0]?.id}`,
    `/webhook-endpoints/${gone}/replays/${replays[0]?.id}`,
  ]
  for (const path of history) t.equal((await send('GET', path)).statusCode, 200)
  t.equal((await send('DELETE', `/webhook-endpoints/${gone}`)).statusCode, 204)
  for (const path of history) t.equal((await send('GET', path)).statusCode, 404, path)
  const shown = (await send('GET', '/notifications')).json().data
  t.strictSame([...new Set(shown.map((one: { endpointId: string }) => one.endpointId))], [kept])
  t.strictSame(await openErasures(database), { endpoint: 1 })
  const worker = await connect(t, database.workerUrl)
  let batches = 1
  while (!(await work(worker, database))) batches += 1
  t.ok(batches > 3, `${batches} batches`)
  for (const table of ['deliveries', 'due_attempts', 'endpoint_replays', 'notifications']) {
    const { rows: left } = await database.admin.query(
      `SELECT endpoint_id, count(*)::int AS count FROM ${table} GROUP BY 1`,
    )
    t.strictSame(left, [{ endpoint_id: kept, count: rows }], table)
  }
})

t.test('orders of a deleted account go in batches, then the copies in events', async (t) => {
  const { database } = test
  const host = await createUser(database, { role: 'admin' })
  const member = await createUser(database, { tenantId: host.tenantId, role: 'editor' })
  for (let n = 0; n < rows; n += 1) await createOrder(database, member)
  const send = as(test, { cookie: (await signIn(test, host)).cookie })
  t.equal((await send('DELETE', `/users/${member.userId}`)).statusCode, 204)
  t.strictSame(await openErasures(database), { member: 1, person: 1 })
  const worker = await connect(t, database.workerUrl)
  await database.admin.query(`DELETE FROM erasures WHERE kind = 'member'`)
  const orders = async () => (await database.admin.query('SELECT FROM orders')).rowCount
  for (const left of [3, 1, 0]) {
    t.equal(await work(worker, database), false)
    t.equal(await orders(), left)
  }
  t.strictSame(await openErasures(database), { person: 1, events: 1 })
  await eraseAll(database)
  t.strictSame(await openErasures(database), {})
})

/** What the gauges of the worker say, without zeros. */
async function openErasures(database: TestDatabase): Promise<Record<string, number>> {
  const systemDb = openSystemDatabase(database.workerUrl, 1, patient)
  const { identity } = createMetrics()
  await measureErasures(systemDb, identity).finally(() => systemDb.close())
  const { values } = await identity.erasuresOpen.get()
  const open = values.filter(({ value }) => value > 0)
  return Object.fromEntries(open.map(({ labels, value }) => [String(labels.kind), value]))
}

/** One batch of the oldest erasure, in a transaction of its own. */
async function work(
  worker: Awaited<ReturnType<typeof connect>>,
  { admin }: TestDatabase,
): Promise<boolean> {
  const { rows: open } = await admin.query<{ id: string }>(
    'SELECT id FROM erasures ORDER BY id LIMIT 1',
  )
  const { rows } = await worker.query('SELECT finished FROM work_erasure($1, $2)', [
    open[0]?.id,
    batch,
  ])
  return rows[0]?.finished === true
}

async function fillHistory(
  { admin }: TestDatabase,
  tenantId: string,
  endpointId: string,
): Promise<void> {
  await admin.query(
    `WITH event AS (
       INSERT INTO outbound_events (tenant_id, id, type, body)
       SELECT $1, 'msg_' || replace(gen_random_uuid()::text, '-', ''), 'order.updated', '{}'
       FROM generate_series(1, $3::int) RETURNING id
     ), delivery AS (
       INSERT INTO deliveries (tenant_id, event_id, endpoint_id, event_type)
       SELECT $1, id, $2, 'order.updated' FROM event RETURNING id
     ), due AS (
       INSERT INTO due_attempts (tenant_id, delivery_id, endpoint_id, due_at, series, number)
       SELECT $1, id, $2, now() + interval '1 day', 0, 1 FROM delivery
     ), replay AS (
       INSERT INTO endpoint_replays (tenant_id, endpoint_id, replay_from, replay_to, total, finished_at)
       SELECT $1, $2, now(), now(), 0, now() FROM event
     )
     INSERT INTO notifications (tenant_id, endpoint_id, kind, message)
     SELECT $1, $2, 'endpoint.failing', 'x' FROM event`,
    [tenantId, endpointId, rows],
  )
}
