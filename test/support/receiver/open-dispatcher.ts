import type { Test } from 'tap'
import { type Database, openDatabase } from '#src/db/database.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { openQueue } from '#src/queue/queue.ts'
import { createDispatcher, type DispatchLimits } from '#src/webhooks/delivery/dispatch.ts'
import { deliverLimits } from '#src/webhooks/delivery/worker.ts'
import { patient } from '#test/support/database/open.ts'
import { createOutbox } from './outbox.ts'
import { createEndpoint, testKeys } from './webhook-endpoint.ts'

type Options = {
  endpoints?: number
  /** Of the database that the dispatcher uses. */
  change?: (db: Database) => Database
  /** Called for each attempt, with the id of its delivery's event. */
  onSend?: (id: string) => Promise<void>
  /** Default: a turn ends as soon as nothing is due, and does not look by itself. */
  times?: Partial<Pick<DispatchLimits, 'idleMs' | 'pollMs'>>
  /** Called for each error that is logged; without it the test fails. */
  onError?: (message: string) => void
}

/**
 * A tenant with endpoints, and a dispatcher without a consumer: the test fetches the jobs. Each attempt is
 * answered with 204.
 * @returns `sent`: the ids of the attempts that were made
 */
export async function openDispatcher(
  t: Test,
  { endpoints = 1, change = (db) => db, onSend, times, onError }: Options = {},
) {
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
  const sent: string[] = []
  const dispatcher = createDispatcher(
    {
      queue,
      db: change(db),
      sender: {
        async send({ headers }) {
          const id = headers['webhook-id'] ?? ''
          sent.push(id)
          await onSend?.(id)
          return {
            ...{ statusCode: 204, responseExcerpt: null, retryAfterSeconds: null, error: null },
            ...{ startedAt: new Date(), durationMs: 1, cause: null, certificateExpiresAt: null },
          }
        },
        async close() {},
      },
      keys: testKeys,
      retrySeconds: [0, 5],
      clock: { now: () => new Date() },
      metrics: createMetrics().outbound,
      attemptLog: { add() {}, close() {} },
      logger: {
        info() {},
        warn() {},
        error(facts, message) {
          if (onError === undefined) t.fail('an error was logged', facts)
          else onError(message)
        },
      },
    },
    { ...deliverLimits, idleMs: 0, pollMs: 3_600_000, ...times },
  )
  t.teardown(() => dispatcher.finish())
  return {
    outbox,
    queue,
    dispatcher,
    sent,
    async work(jobs: Parameters<typeof dispatcher.run>[0]) {
      await Promise.all(dispatcher.run(jobs, new AbortController().signal))
    },
  }
}
