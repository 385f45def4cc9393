import t, { type Test } from 'tap'
import { type Database, openDatabase } from '#src/db/database.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { openQueue } from '#src/queue/queue.ts'
import { loneRoom } from '#src/webhooks/delivery/claim.ts'
import { createDispatcher } from '#src/webhooks/delivery/dispatch.ts'
import { deliverLimits } from '#src/webhooks/delivery/worker.ts'
import { patient } from '#test/support/database/open.ts'
import { createOutbox } from '#test/support/receiver/outbox.ts'
import { createEndpoint, testKeys } from '#test/support/receiver/webhook-endpoint.ts'

/*
 * A worker sends a delivery that is alone after one round trip to the database: the packet that fetches
 * the turn of its endpoint also reads what is due there.
 */

t.test('a lone delivery is sent after one packet', async (t) => {
  const { outbox, trips, work } = await setUp(t)
  const eventId = await outbox.publish()
  await work()
  t.strictSame(trips.slice(0, 2), ['write', `sent ${eventId}`])
  t.match(await outbox.deliveries(), [{ status: 'succeeded', attempts: [{ number: 1 }] }])
})

for (const count of [loneRoom - 1, loneRoom, loneRoom + 1]) {
  t.test(`of ${count} deliveries of an endpoint, each is sent once`, async (t) => {
    const { outbox, sent, work } = await setUp(t)
    const published: string[] = []
    for (let n = 0; n < count; n += 1) published.push(await outbox.publish())
    await work()
    t.strictSame(sent.toSorted(), published.toSorted())
    t.equal(
      (await outbox.deliveries()).filter(({ status }) => status === 'succeeded').length,
      count,
    )
  })
}

t.test('turns of two endpoints at once read what is due by themselves', async (t) => {
  const { outbox, sent, trips, work } = await setUp(t, 2)
  const eventId = await outbox.publish()
  await work()
  t.strictSame(sent, [eventId, eventId])
  t.strictSame(trips.slice(0, 2), ['write', 'read'])
})

t.test('a delivery that is added while the turn is fetched is sent at once', async (t) => {
  const { outbox, sent, trips, work, afterFetch } = await setUp(t)
  const first = await outbox.publish()
  let second = ''
  afterFetch(async (wake) => {
    second = await outbox.publish()
    wake()
  })
  await work()
  t.strictSame(sent, [first, second])
  t.strictSame(trips.slice(0, 2), ['write', 'read'], 'the turn reads what is due again')
})

t.test('a retry that is not due is not read with the turn', async (t) => {
  const { outbox, sent, work } = await setUp(t)
  await outbox.publish()
  await outbox.database.admin.query(
    `UPDATE due_attempts SET number = 2, due_at = now() + interval '5 s'`,
  )
  await work()
  t.strictSame(sent, [])
})

t.test('nothing is read for a tenant that is closed', async (t) => {
  const { outbox, sent, work } = await setUp(t)
  await outbox.publish()
  await outbox.database.admin.query('UPDATE tenants SET closed_at = now()')
  await work()
  t.strictSame(sent, [])
})

t.test('what is read with the turn of a paused endpoint is held', async (t) => {
  const { outbox, sent, work } = await setUp(t)
  const { admin } = outbox.database
  await outbox.publish()
  await admin.query(`UPDATE endpoint_states SET paused = 'hold', paused_at = now()`)
  await work()
  t.strictSame(sent, [])
  t.match((await admin.query('SELECT held_for FROM deliveries')).rows, [{ held_for: 'rate' }])
})

/** Endpoints, and a dispatcher without a consumer. */
async function setUp(t: Test, endpoints = 1) {
  const outbox = await createOutbox(t)
  const { database, tenant } = outbox
  for (let n = 0; n < endpoints; n += 1) {
    await createEndpoint(database, tenant, { url: `https://receiver${n}.example` })
  }
  const db = openDatabase(database.workerUrl, 2, patient)
  const queue = openQueue(database.workerUrl, 'worker', () => {})
  await queue.start()
  t.teardown(async () => {
    await queue.stop({ graceful: false })
    await db.close()
  })
  const trips: string[] = []
  const sent: string[] = []
  let after: ((wake: () => void) => Promise<void>) | null = null
  const watched: Database = {
    ...db,
    read(entry, work) {
      trips.push('read')
      return db.read(entry, work)
    },
    async write(entry, work) {
      trips.push('write')
      const result = await db.write(entry, work)
      const then = after
      after = null
      await then?.(() => dispatcher.wake(tenant.tenantId))
      return result
    },
  }
  const dispatcher = createDispatcher(
    {
      queue,
      db: watched,
      keys: testKeys,
      retrySeconds: [0, 5],
      clock: { now: () => new Date() },
      metrics: createMetrics().outbound,
      attemptLog: { add() {}, close() {} },
      logger: { info() {}, warn() {}, error: (facts) => t.fail('an error was logged', facts) },
      sender: {
        async send({ headers }) {
          const id = headers['webhook-id'] ?? ''
          trips.push(`sent ${id}`)
          sent.push(id)
          return {
            ...{ statusCode: 204, responseExcerpt: null, retryAfterSeconds: null, error: null },
            ...{ startedAt: new Date(), durationMs: 1, cause: null, certificateExpiresAt: null },
          }
        },
        async close() {},
      },
    },
    { ...deliverLimits, idleMs: 0, pollMs: 3_600_000 },
  )
  t.teardown(() => dispatcher.finish())
  return {
    outbox,
    trips,
    sent,
    afterFetch(then: typeof after) {
      after = then
    },
    async work() {
      const jobs = await dispatcher.fetch(100)
      await Promise.all(dispatcher.run(jobs, new AbortController().signal))
    },
  }
}
