import { PgBoss, TestClock } from 'pg-boss'
import type { Test } from 'tap'
import type { Receiver, Respond } from '#dev/testing/receiver.ts'
import { openDatabase } from '#src/db/database.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import type { EndpointTurnJob, Jobs } from '#src/queue/queue.ts'
import { createSender } from '#src/webhooks/client/client.ts'
import { createDispatcher } from '#src/webhooks/delivery/dispatch.ts'
import { forecastQueue, workForecast } from '#src/webhooks/delivery/forecast.ts'
import { drainQueue, workDrain } from '#src/webhooks/delivery/held/drain.ts'
import { trialQueue, workTrial } from '#src/webhooks/delivery/held/trial.ts'
import { deliverLimits } from '#src/webhooks/delivery/worker.ts'
import { findEndpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { endpointTurnQueue } from '#src/webhooks/schedule/due-attempts.ts'
import { patient } from '#test/support/database/open.ts'
import { createOutbox, openReceiver } from './outbox.ts'
import { createEndpoint, testKeys } from './webhook-endpoint.ts'

export const retrySeconds = [0, 5, 30, 300, 3_600]
export const fail: Respond = (_request, response) => response.writeHead(500).end()
export const succeed: Respond = (_request, response) => response.writeHead(204).end()

/**
 * An endpoint, and two workers whose clock the test sets, for the program and the queue. They work only
 * when the test says so.
 */
export async function createDeliveryWorker(
  t: Test,
  respond: Respond,
  waits: readonly number[] = retrySeconds,
) {
  const testClock = new TestClock(Date.now())
  const clock = { now: () => new Date(testClock.now()) }
  const outbox = await createOutbox(t, clock)
  const { database, tenant } = outbox
  const receiver: Receiver = await openReceiver(t, respond)
  const endpointId = await createEndpoint(database, tenant, { url: receiver.url })
  // Of the test's clock, like all times after it.
  const since = [clock.now()]
  await database.admin.query('UPDATE webhook_endpoints SET created_at = $1', since)
  await database.admin.query('UPDATE endpoint_states SET enabled_at = $1', since)
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
  const db = openDatabase(database.workerUrl, 4, patient)
  const allow = [`127.0.0.1:${receiver.port}`]
  // Two workers of one tenant share it.
  const sender = createSender({ allow, timeoutMs: 10_000, perAddress: 400, clock })
  const createDeliver = () =>
    createDispatcher(
      {
        queue,
        db,
        sender,
        keys: testKeys,
        retrySeconds: waits,
        clock,
        metrics: createMetrics().outbound,
        attemptLog: { add() {}, close() {} },
        logger: { info() {}, warn() {}, error: (facts) => t.fail('an error was logged', facts) },
      },
      { ...deliverLimits, idleMs: 0 },
    )
  const workers = [createDeliver(), createDeliver()] as const
  t.teardown(async () => {
    for (const worker of workers) worker.finish()
    await sender.close()
    // A connection that is closing may report the end of the database.
    queue.off('error', tell).on('error', () => {})
    await queue.stop({ graceful: false })
    await db.close()
  })
  return {
    outbox,
    receiver,
    endpointId,
    queue,
    clock,
    moveTo: (seconds: number) => testClock.setTime(testClock.now() + seconds * 1_000),
    /** As at the beginning, but at the time to which the clock has moved. */
    async reset() {
      await database.admin.query(
        `DELETE FROM notifications; DELETE FROM outbound_events; DELETE FROM pgboss.job;
         UPDATE webhook_endpoints SET rate_per_second = NULL, rate_burst = NULL`,
      )
      await database.admin.query(
        `UPDATE endpoint_states SET status = 'active', enabled_at = $1, last_success_at = NULL,
           healthy_since = NULL, retrying_since = NULL, failure_status = NULL, failure_cause = NULL,
           failing_since = NULL, exhausted_deliveries = 0, disabled_at = NULL, outage_since = NULL,
           recovering_since = NULL, recovery_step = 0, trial_at = NULL, trials = 0,
           trial_delivery_id = NULL, rate_next_at = NULL`,
        [clock.now()],
      )
      receiver.respond(respond)
    },
    /** Takes the turns that are due now; resolves to their number. @param worker which one */
    async workDue(worker: 0 | 1 = 0) {
      const options = { batchSize: 100, groupConcurrency: 1 }
      const jobs = await queue.fetch<EndpointTurnJob>(endpointTurnQueue, options)
      await Promise.all(workers[worker].run(jobs, new AbortController().signal))
      return jobs.length
    },
    /** Releases the deliveries that are due to be released; resolves to the number of jobs. */
    async workDrains() {
      const jobs = await queue.fetch<Jobs['endpoint-drain']>(drainQueue, { batchSize: 100 })
      for (const job of jobs) await workDrain(db, queue, job, clock.now())
      return jobs.length
    },
    /** Starts the trials that are due; resolves to the number of jobs. */
    async workTrials() {
      const jobs = await queue.fetch<Jobs['endpoint-trial']>(trialQueue, { batchSize: 100 })
      for (const job of jobs) await workTrial(db, queue, job, clock.now())
      return jobs.length
    },
    /** Looks at when certificates expire; resolves to the number of jobs. */
    async workForecasts() {
      const jobs = await queue.fetch<Jobs['endpoint-forecast']>(forecastQueue, { batchSize: 100 })
      for (const job of jobs) await workForecast(db, queue, job, clock.now())
      return jobs.length
    },
    /** Seconds until the next job is due; null if none waits. */
    async nextDue() {
      const { rows } = await database.admin.query<{ at: Date | null }>(
        `SELECT min(start_after) AS at FROM pgboss.job
         WHERE name IN ('endpoint-turn', 'endpoint-trial', 'endpoint-drain') AND state < 'active'`,
      )
      const at = rows[0]?.at ?? null
      return at && Math.max(0, (at.getTime() - clock.now().getTime()) / 1_000)
    },
    /** The endpoint as the API shows it. */
    async endpoint() {
      const found = await outbox.db.read(outbox.entry, (tx) => findEndpoint(tx, tenant, endpointId))
      if (found === null) throw new Error('the endpoint is missing')
      return found
    },
    /** The kinds of its notifications, oldest first. */
    async alerts() {
      const { rows } = await database.admin.query<{ kind: string }>(
        'SELECT kind FROM notifications ORDER BY id',
      )
      return rows.map(({ kind }) => kind)
    },
  }
}

export type DeliveryWorker = Awaited<ReturnType<typeof createDeliveryWorker>>
