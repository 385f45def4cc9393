import { PgBoss, TestClock } from 'pg-boss'
import t, { type Test } from 'tap'
import { openDatabase } from '#src/db/database.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import type { DeliverJob } from '#src/queue/queue.ts'
import { createSender } from '#src/webhooks/client/client.ts'
import { createDispatcher } from '#src/webhooks/delivery/dispatch.ts'
import { deliverQueue } from '#src/webhooks/delivery/job.ts'
import { startReplay } from '#src/webhooks/delivery/replays.ts'
import { findEndpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { createOutbox, openReceiver } from '#test/support/outbox.ts'
import type { Receiver, Respond } from '#test/support/receiver.ts'
import { createEndpoint, testKeys } from '#test/support/webhook-endpoint.ts'

const retrySeconds = [0, 5, 30, 300, 3_600]
const fail: Respond = (_request, response) => response.writeHead(500).end()
const succeed: Respond = (_request, response) => response.writeHead(204).end()

t.test('the whole schedule: five attempts, then exhausted, failing and an alert', async (t) => {
  const { outbox, receiver, moveTo, workDue } = await setUp(t, fail)
  await outbox.publish()
  const waited = [await workDue()]
  for (const seconds of retrySeconds.slice(1)) {
    await moveTo(seconds - 1)
    waited.push(await workDue())
    await moveTo(1)
    waited.push(await workDue())
  }
  await moveTo(1_000_000)
  waited.push(await workDue())
  t.strictSame(waited, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0], 'each attempt after its wait, not before')
  t.equal(receiver.requests.length, 5)
  t.equal(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size, 1)
  t.match(await outbox.deliveries(), [
    {
      status: 'exhausted',
      next_attempt_at: null,
      attempts: [1, 2, 3, 4, 5].map((number) => ({ number, status_code: 500 })),
    },
  ])
  t.match(await stateOf(outbox), {
    status: 'failing',
    failing_since: Date,
    alerts: ['endpoint.failing'],
  })
})

t.test('the first failed attempt is visible at once, and so is the success after it', async (t) => {
  const { outbox, receiver, moveTo, workDue, health } = await setUp(t, fail)
  t.match(await health(), { state: 'healthy' })
  await outbox.publish()
  await workDue()
  const first = await health()
  t.match(first, { state: 'retrying', reason: /^The endpoint answered 500\./ })
  await moveTo(5)
  receiver.respond((_request, response) => response.writeHead(404).end())
  await workDue()
  t.match(await health(), { ...first, reason: /^The endpoint answered 404\./ })
  receiver.respond(succeed)
  await moveTo(30)
  await workDue()
  const { state, since } = await health()
  t.equal(state, 'healthy')
  t.ok(since > first.since)
  t.strictSame((await stateOf(outbox)).alerts, [], 'nobody is alerted')
})

t.test('owners are alerted once per endpoint and hour', async (t) => {
  const { outbox, moveTo, workDue } = await setUp(t, fail, [0])
  for (const seconds of [0, 10, 3_580, 20]) {
    await moveTo(seconds)
    await outbox.publish()
    await workDue()
  }
  t.strictSame((await stateOf(outbox)).alerts, ['endpoint.failing', 'endpoint.failing'])
})

t.test('a success makes a failing endpoint active and sends an alert', async (t) => {
  const { outbox, receiver, workDue } = await setUp(t, fail, [0])
  await outbox.publish()
  await workDue()
  receiver.respond(succeed)
  await outbox.publish()
  await workDue()
  t.match(await stateOf(outbox), {
    status: 'active',
    failing_since: null,
    alerts: ['endpoint.failing', 'endpoint.recovered'],
  })
})

t.test('failing for five days with ten exhausted deliveries disables it', async (t) => {
  const { outbox, receiver, moveTo, workDue } = await setUp(t, fail, [0, 60])
  for (let n = 0; n < 11; n++) await outbox.publish()
  await workDue()
  await moveTo(60)
  await workDue()
  t.match(await stateOf(outbox), { status: 'failing' })
  await moveTo(5 * 86_400)
  await outbox.publish()
  await outbox.publish()
  await workDue()
  await moveTo(60)
  await workDue()
  const { status, disabled_at, alerts } = await stateOf(outbox)
  t.match({ status, disabled_at }, { status: 'disabled', disabled_at: Date })
  t.equal(alerts.at(-1), 'endpoint.disabled')
  const sent = receiver.requests.length
  await outbox.publish()
  t.equal(await workDue(), 0, 'nothing else is sent')
  t.equal(receiver.requests.length, sent)
  t.match((await outbox.deliveries()).at(-1), { status: 'exhausted', attempts: [] })
})

t.test('pending deliveries to an endpoint that is disabled are exhausted', async (t) => {
  const { outbox, receiver, moveTo, workDue } = await setUp(t, fail)
  await outbox.publish()
  await workDue()
  await outbox.database.admin.query(
    `UPDATE webhook_endpoints SET status = 'disabled', disabled_at = now()`,
  )
  await moveTo(5)
  t.equal(await workDue(), 1)
  t.equal(receiver.requests.length, 1)
  t.match(await outbox.deliveries(), [{ status: 'exhausted', attempts: [{ number: 1 }] }])
  t.strictSame((await stateOf(outbox)).alerts, [])
})

t.test('a replay has its own attempt counter', async (t) => {
  const { outbox, receiver, moveTo, workDue } = await setUp(t, fail, [0, 60])
  await outbox.publish()
  await workDue()
  const ids = (await outbox.deliveries()).map(({ id }) => id)
  await outbox.db.write(outbox.entry, (tx) => startReplay(tx, outbox.tenant, ids, new Date()))
  receiver.respond(succeed)
  await workDue()
  await moveTo(60)
  t.equal(await workDue(), 1, 'the job of the previous series does nothing')
  t.equal(receiver.requests.length, 2)
  t.match(await outbox.deliveries(), [
    {
      status: 'succeeded',
      attempts: [
        { series: 0, number: 1, status_code: 500 },
        { series: 1, number: 1, status_code: 204 },
      ],
    },
  ])
})

t.test('a wait before the first attempt', async (t) => {
  const { outbox, receiver, moveTo, workDue } = await setUp(t, succeed, [10])
  await outbox.publish()
  await workDue()
  t.equal(receiver.requests.length, 0)
  t.match(await outbox.deliveries(), [{ status: 'pending', next_attempt_at: Date }])
  await moveTo(9)
  t.equal(await workDue(), 0)
  await moveTo(1)
  t.equal(await workDue(), 1)
  t.match(await outbox.deliveries(), [{ status: 'succeeded', attempts: [{ number: 1 }] }])
})

/** An endpoint, and a worker whose clock the test sets, for the program and the queue. */
async function setUp(t: Test, respond: Respond, waits: readonly number[] = retrySeconds) {
  const testClock = new TestClock(Date.now())
  const clock = { now: () => new Date(testClock.now()) }
  const outbox = await createOutbox(t, clock)
  const { database, tenant } = outbox
  const receiver: Receiver = await openReceiver(t, respond)
  const endpointId = await createEndpoint(database, tenant, { url: receiver.url })
  // The test clock of pg-boss is set by the owner; this makes every connection read it.
  const name = new URL(database.url).pathname.slice(1)
  await database.admin.query(`ALTER DATABASE ${name} SET pgboss.test_clock = 'on'`)
  const queue = new PgBoss({
    connectionString: database.superuserUrl,
    clock: testClock,
    supervise: false,
    schedule: false,
    migrate: false,
  })
  const tell = (error: Error) => t.error(error)
  queue.on('error', tell)
  await queue.start()
  await database.admin.query('GRANT SELECT ON pgboss.__pgboss_test_clock TO PUBLIC')
  const db = openDatabase(database.workerUrl, 4)
  const sender = createSender({ allow: [`127.0.0.1:${receiver.port}`], timeoutMs: 10_000, clock })
  const deliver = createDispatcher({
    queue,
    db,
    sender,
    keys: testKeys,
    retrySeconds: waits,
    clock,
    metrics: createMetrics().outbound,
    attemptLog: { add() {}, close() {} },
    logger: { info() {}, warn() {}, error: (facts) => t.fail('an error was logged', facts) },
  })
  t.teardown(async () => {
    await sender.close()
    // A connection that is closing may report the end of the database.
    queue.off('error', tell).on('error', () => {})
    await queue.stop({ graceful: false })
    await db.close()
  })
  return {
    outbox,
    receiver,
    moveTo: (seconds: number) => testClock.setTime(testClock.now() + seconds * 1_000),
    /** Processes the jobs that are due now; resolves to their number. */
    async workDue() {
      const jobs = await queue.fetch<DeliverJob>(deliverQueue, { batchSize: 100 })
      await Promise.all(deliver(jobs, new AbortController().signal))
      return jobs.length
    },
    async health() {
      const found = await db.read(outbox.entry, (tx) => findEndpoint(tx, tenant, endpointId))
      if (found === null) throw new Error('the endpoint is missing')
      return found.health
    },
  }
}

async function stateOf({ database }: Awaited<ReturnType<typeof createOutbox>>) {
  const { rows } = await database.admin.query(
    `SELECT status, failing_since, disabled_at,
       ARRAY(SELECT kind FROM notifications n WHERE n.endpoint_id = e.id ORDER BY n.id) AS alerts
     FROM webhook_endpoints e`,
  )
  return rows[0]
}
