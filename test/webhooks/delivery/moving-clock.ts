import { PgBoss, TestClock } from 'pg-boss'
import type { Test } from 'tap'
import { openDatabase } from '#src/db/database.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import type { DeliverJob } from '#src/queue/queue.ts'
import { createSender } from '#src/webhooks/client/client.ts'
import { createDispatcher } from '#src/webhooks/delivery/dispatch.ts'
import { deliverQueue } from '#src/webhooks/delivery/job.ts'
import { createOutbox, openReceiver } from '#test/support/outbox.ts'
import type { Receiver, Respond } from '#test/support/receiver.ts'
import { createEndpoint, testKeys } from '#test/support/webhook-endpoint.ts'

export const retrySeconds = [0, 5, 30, 300, 3_600]
export const fail: Respond = (_request, response) => response.writeHead(500).end()
export const succeed: Respond = (_request, response) => response.writeHead(204).end()

/** An endpoint, and two workers whose clock the test sets, for the program and the queue. */
export async function startMovingClock(
  t: Test,
  respond: Respond,
  waits: readonly number[] = retrySeconds,
) {
  const testClock = new TestClock(Date.now())
  const clock = { now: () => new Date(testClock.now()) }
  const outbox = await createOutbox(t, clock)
  const { database, tenant } = outbox
  const receiver: Receiver = await openReceiver(t, respond)
  await createEndpoint(database, tenant, { url: receiver.url })
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
  const dbs = [openDatabase(database.workerUrl, 4), openDatabase(database.workerUrl, 4)]
  const sender = createSender({ allow: [`127.0.0.1:${receiver.port}`], timeoutMs: 10_000, clock })
  const deps = {
    queue,
    sender,
    keys: testKeys,
    retrySeconds: waits,
    clock,
    metrics: createMetrics().outbound,
    attemptLog: { add() {}, close() {} },
    logger: {
      info() {},
      warn() {},
      error: (facts: object) => t.fail('an error was logged', facts),
    },
  }
  const workers = dbs.map((db) => createDispatcher({ ...deps, db }))
  t.teardown(async () => {
    await sender.close()
    // A connection that is closing may report the end of the database.
    queue.off('error', tell).on('error', () => {})
    await queue.stop({ graceful: false })
    await Promise.all(dbs.map((db) => db.close()))
  })
  return {
    outbox,
    receiver,
    clock,
    moveTo: (seconds: number) => testClock.setTime(testClock.now() + seconds * 1_000),
    /** Processes the jobs that are due now; resolves to their number. */
    async workDue(worker: 0 | 1 = 0) {
      const jobs = await queue.fetch<DeliverJob>(deliverQueue, { batchSize: 100 })
      await Promise.all(workers[worker]?.(jobs, new AbortController().signal) ?? [])
      return jobs.length
    },
  }
}
