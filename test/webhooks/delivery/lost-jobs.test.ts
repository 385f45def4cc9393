import t, { type Test } from 'tap'
import { type Database, openDatabase } from '#src/db/database.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { type EndpointTurnJob, openQueue } from '#src/queue/queue.ts'
import { createDispatcher } from '#src/webhooks/delivery/dispatch.ts'
import { deliverLimits } from '#src/webhooks/delivery/worker.ts'
import { endpointTurnQueue } from '#src/webhooks/schedule/due-attempts.ts'
import { patient } from '#test/support/database/open.ts'
import { createOutbox } from '#test/support/receiver/outbox.ts'
import { createEndpoint, testKeys } from '#test/support/receiver/webhook-endpoint.ts'

t.test('a turn that the queue has taken back before its first attempt sends nothing', async (t) => {
  const { outbox, sent, fetch, work, takeBack } = await setUp(t)
  await outbox.publish()
  const jobs = await fetch()
  await takeBack()
  await work(jobs)
  t.equal(sent.length, 0)
  await work(await fetch())
  t.equal(sent.length, 1)
  t.match(await outbox.deliveries(), [{ status: 'succeeded', attempts: [{ number: 1 }] }])
})

t.test(
  'the outcome of an attempt whose turn was taken back is left to the next turn',
  async (t) => {
    const { outbox, sent, fetch, work, takeBack, duringAttempt } = await setUp(t)
    await outbox.publish()
    duringAttempt(takeBack)
    await work(await fetch())
    t.equal(sent.length, 1)
    t.match(await outbox.deliveries(), [{ status: 'pending', attempts: [] }])
    duringAttempt(async () => {})
    await work(await fetch())
    t.equal(sent.length, 2)
    t.equal(new Set(sent).size, 1, 'with the same id')
    t.match(await outbox.deliveries(), [{ status: 'succeeded', attempts: [{ number: 1 }] }])
  },
)

t.test('an outcome whose commit was not answered is recorded once', async (t) => {
  let lost = 0
  const loseFirst = async <Written>(written: Written): Promise<Written> => {
    lost += 1
    if (lost > 1) return written
    throw Object.assign(new Error('the answer was lost'), { code: 'ECONNRESET' })
  }
  const { outbox, sent, fetch, work } = await setUp(t, (db) => ({
    ...db,
    write: async (entry, write) => loseFirst(await db.write(entry, write)),
  }))
  await outbox.publish()
  await work(await fetch())
  t.ok(lost > 1, 'it was recorded again')
  t.equal(sent.length, 1)
  t.match(await outbox.deliveries(), [{ status: 'succeeded', attempts: [{ number: 1 }] }])
  t.strictSame(await fetch(), [])
})

t.test('a turn whose outcome cannot be recorded goes back to the queue', async (t) => {
  const errors: string[] = []
  const refuse = (db: Database): Database => ({
    ...db,
    write: () => Promise.reject(new Error('refused')),
  })
  const { outbox, sent, fetch, work } = await setUp(t, refuse, errors)
  await outbox.publish()
  await work(await fetch())
  t.equal(sent.length, 1)
  t.strictSame(errors, ['delivery outcome not recorded'])
  const { rows } = await outbox.database.admin.query(
    'SELECT state::text FROM pgboss.job WHERE name = $1',
    [endpointTurnQueue],
  )
  t.strictSame(rows, [{ state: 'retry' }])
})

/** An endpoint, and a dispatcher without a consumer: the test fetches the jobs. */
async function setUp(
  t: Test,
  change: (db: Database) => Database = (db) => db,
  errors: string[] | null = null,
) {
  const outbox = await createOutbox(t)
  const { database, tenant } = outbox
  await createEndpoint(database, tenant, { url: 'https://receiver.example' })
  const db = openDatabase(database.workerUrl, 2, patient)
  const queue = openQueue(database.workerUrl, 'worker', () => {})
  await queue.start()
  t.teardown(async () => {
    await queue.stop({ graceful: false })
    await db.close()
  })
  const clock = { now: () => new Date() }
  const sent: unknown[] = []
  let during = async () => {}
  const dispatcher = createDispatcher(
    {
      queue,
      db: change(db),
      sender: {
        async send({ headers }) {
          sent.push(headers['webhook-id'])
          await during()
          const answer = {
            statusCode: 204,
            responseExcerpt: '',
            retryAfterSeconds: null,
            error: null,
            cause: null,
          }
          return { ...answer, certificateExpiresAt: null, startedAt: clock.now(), durationMs: 1 }
        },
        async close() {},
      },
      keys: testKeys,
      retrySeconds: [0, 5],
      clock,
      metrics: createMetrics().outbound,
      attemptLog: { add() {}, close() {} },
      logger: {
        info() {},
        warn() {},
        error: (facts, message) => errors?.push(message) ?? t.fail('an error was logged', facts),
      },
    },
    { ...deliverLimits, idleMs: 0 },
  )
  t.teardown(() => dispatcher.finish())
  return {
    outbox,
    /** The ids of the attempts that were made. */
    sent,
    duringAttempt(work: () => Promise<void>) {
      during = work
    },
    fetch: () => queue.fetch<EndpointTurnJob>(endpointTurnQueue, { batchSize: 10 }),
    async work(jobs: Awaited<ReturnType<typeof queue.fetch<EndpointTurnJob>>>) {
      await Promise.all(dispatcher.run(jobs, new AbortController().signal))
    },
    /** As when the job has expired. */
    async takeBack() {
      await database.admin.query(
        `UPDATE pgboss.job SET state = 'retry', start_after = now() WHERE name = 'endpoint-turn'`,
      )
    },
  }
}
