import t, { type Test } from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { openQueue } from '#src/queue/queue.ts'
import { endpointTest } from '#src/webhooks/events/program-kinds.ts'
import { publish } from '#src/webhooks/events/publish.ts'
import { startReplay } from '#src/webhooks/history/replays.ts'
import { endpointTurnQueue } from '#src/webhooks/schedule/due-attempts.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { anyEvent } from '#test/support/receiver/any-event.ts'
import { waitingAttempts } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

const now = new Date('2026-03-01T10:00:00.000Z')
const changed = anyEvent('order.updated', { id: 7 })

async function setUp(t: Test) {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 4)
  const enter = await allowScopes<TestUser>(database)
  return { database, db, enter, tenant: await createUser(database) }
}

t.test(
  'an event has a delivery that is due for every endpoint that has chosen its type',
  async (t) => {
    const { database, db, enter, tenant } = await setUp(t)
    const all = await createEndpoint(database, tenant, { url: 'https://all.example' })
    const chosen = await createEndpoint(database, tenant, {
      url: 'https://some.example',
      eventTypes: ['post.deleted', 'order.updated'],
    })
    await createEndpoint(database, tenant, {
      url: 'https://other.example',
      eventTypes: ['post.deleted'],
    })
    await createEndpoint(database, await createUser(database), { url: 'https://foreign.example' })
    await db.write(enter(tenant), (tx) => publish(tx, tenant, changed, now))
    const { rows } = await database.admin.query('SELECT * FROM deliveries')
    t.strictSame(rows.map((row) => row.endpoint_id).toSorted(), [all, chosen].toSorted())
    for (const row of rows) t.match(row, { status: 'pending', attempts: 0, next_attempt_at: now })
    t.strictSame(
      (await waitingAttempts(database)).toSorted(byId),
      rows.map((row) => ({ id: row.id, series: 0, number: 1 })).toSorted(byId),
    )
    const jobs = await jobsOf(database)
    t.strictSame(
      jobs.map(({ data, group_id }) => ({ ...data, group_id })).toSorted(byEndpoint),
      rows
        .map(({ endpoint_id: endpointId }) => ({
          tenantId: tenant.tenantId,
          endpointId,
          group_id: endpointId,
        }))
        .toSorted(byEndpoint),
    )
  },
)

t.test('the body of an event has its id, type, time and data', async (t) => {
  const { database, db, enter, tenant } = await setUp(t)
  const { eventId } = await db.write(enter(tenant), (tx) => publish(tx, tenant, changed, now))
  const { rows } = await database.admin.query('SELECT type, body, created_at FROM outbound_events')
  t.strictSame(rows, [
    {
      type: 'order.updated',
      body: `{"id":"${eventId}","type":"order.updated","createdAt":"2026-03-01T10:00:00.000Z","data":{"id":7}}`,
      created_at: now,
    },
  ])
  t.strictSame(await jobsOf(database), [], 'without an endpoint there is no job')
})

t.test('an event is rolled back with the change it reports', async (t) => {
  const { database, db, enter, tenant } = await setUp(t)
  await createEndpoint(database, tenant, { url: 'https://all.example' })
  const failure = new Error('the change failed')
  const change = db.write(enter(tenant), async (tx) => {
    await publish(tx, tenant, changed, now)
    throw failure
  })
  await t.rejects(change, failure)
  t.strictSame((await database.admin.query('SELECT FROM outbound_events')).rowCount, 0)
  t.strictSame((await database.admin.query('SELECT FROM deliveries')).rowCount, 0)
  t.strictSame(await jobsOf(database), [])
})

t.test('a test event goes only to its endpoint, whichever types it has chosen', async (t) => {
  const { database, db, enter, tenant } = await setUp(t)
  await createEndpoint(database, tenant, { url: 'https://all.example' })
  const endpointId = await createEndpoint(database, tenant, {
    url: 'https://some.example',
    eventTypes: ['post.deleted'],
  })
  const event = { kind: endpointTest, data: { endpointId }, endpointId }
  await db.write(enter(tenant), (tx) => publish(tx, tenant, event, now))
  const { rows } = await database.admin.query('SELECT endpoint_id FROM deliveries')
  t.strictSame(rows, [{ endpoint_id: endpointId }])
})

t.test('the events of a disabled endpoint stay visible and can be replayed', async (t) => {
  const { database, db, enter, tenant } = await setUp(t)
  const endpoint = await createEndpoint(database, tenant, {
    url: 'https://all.example',
    status: 'disabled',
  })
  await db.write(enter(tenant), (tx) => publish(tx, tenant, changed, now))
  const deliveryIds = await deliveriesOf(database)
  const again = () => db.write(enter(tenant), (tx) => startReplay(tx, tenant, deliveryIds, now))
  const { rows } = await database.admin.query(
    'SELECT status, attempts, finished_at FROM deliveries',
  )
  t.strictSame(rows, [{ status: 'exhausted', attempts: 0, finished_at: now }])
  t.strictSame(await jobsOf(database), [], 'no job is made')
  t.strictSame(await again(), [], 'not while it is disabled')
  await database.admin.query(
    `UPDATE endpoint_states SET status = 'active', disabled_at = NULL WHERE id = $1`,
    [endpoint],
  )
  t.strictSame(await again(), deliveryIds)
  t.strictSame(await waitingAttempts(database), [{ id: deliveryIds[0], series: 1, number: 1 }])
  t.match(await jobsOf(database), [{ data: { endpointId: endpoint } }])
})

t.test('deliveries of another tenant cannot be replayed', async (t) => {
  const { database, db, enter, tenant } = await setUp(t)
  await createEndpoint(database, tenant, { url: 'https://all.example' })
  await db.write(enter(tenant), (tx) => publish(tx, tenant, changed, now))
  const deliveryIds = await deliveriesOf(database)
  const stranger = await createUser(database)
  for (const claimed of [stranger, tenant]) {
    const begun = await db.write(enter(stranger), (tx) =>
      startReplay(tx, claimed, deliveryIds, now),
    )
    t.strictSame(begun, [])
  }
  await t.rejects(
    db.write(enter(stranger), (tx) => publish(tx, tenant, changed, now)),
    'nor makes events there',
  )
})

t.test('a job is the same row that pg-boss would insert', async (t) => {
  const { database, db, enter, tenant } = await setUp(t)
  const endpointId = await createEndpoint(database, tenant, { url: 'https://all.example' })
  const queue = openQueue(database.url, 'web', (error) => t.error(error))
  await queue.start()
  t.teardown(() => queue.stop({ graceful: false }))
  await db.write(enter(tenant), (tx) => publish(tx, tenant, changed, now))
  const [written] = await jobsOf(database)
  await database.admin.query('DELETE FROM pgboss.job')
  await queue.insert(endpointTurnQueue, [
    { data: written?.data ?? {}, group: { id: endpointId }, singletonKey: endpointId },
  ])
  const [expected] = await jobsOf(database)
  const times = ['start_after', 'created_on', 'keep_until']
  for (const name of ['id', ...times]) t.ok(expected?.[name] && written?.[name], name)
  const untimed = (row = {}) =>
    Object.entries(row).filter(([name]) => name !== 'id' && !times.includes(name))
  t.strictSame(untimed(written), untimed(expected))
  const keptMs = (row: Record<string, Date> = {}) =>
    Number(row.keep_until) - Number(row.start_after)
  t.equal(keptMs(written), keptMs(expected))
})

async function jobsOf({ admin }: TestDatabase) {
  const { rows } = await admin.query('SELECT * FROM pgboss.job WHERE name = $1', [
    endpointTurnQueue,
  ])
  return rows
}

async function deliveriesOf({ admin }: TestDatabase): Promise<string[]> {
  const { rows } = await admin.query<{ id: string }>('SELECT id FROM deliveries')
  return rows.map(({ id }) => id)
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1
}

function byEndpoint(a: { endpointId: string }, b: { endpointId: string }): number {
  return a.endpointId < b.endpointId ? -1 : 1
}
