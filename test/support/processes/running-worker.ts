import { EventEmitter, once } from 'node:events'
import type { Test } from 'tap'
import { testConfig } from '#dev/testing/settings.ts'
import { eventQueue, newEventJob } from '#src/billing/job.ts'
import { createLogger } from '#src/observability/logger.ts'
import { openQueue } from '#src/queue/queue.ts'
import { startWorker } from '#src/worker.ts'
import { bodyOf, parsed, receive } from '#test/billing/received.ts'
import type { TestDatabase } from '#test/support/database/database.ts'

type Event = Parameters<typeof receive>[1]
type Queue = ReturnType<typeof openQueue>

/** A worker and a way to wait for its attempts: each ends in one log line with the event's id. */
export async function startTestWorker(
  t: Test,
  database: TestDatabase,
  settings: Record<string, string> = {},
) {
  const lines = new EventEmitter()
  const errors: string[] = []
  let ended = 0
  const logger = createLogger('info', {
    write(line) {
      const { level, eventId, msg } = JSON.parse(line)
      if (level === 'error' || level >= 50) errors.push(msg)
      if (eventId === undefined || msg.endsWith('not noted')) return
      ended += 1
      lines.emit('attempt')
    },
  })
  const worker = await startWorker(testConfig(database, settings), logger)
  let stopped: Promise<void> | undefined
  const stop = () => (stopped ??= worker.stop())
  t.teardown(stop)
  return {
    queue: worker.queue,
    errors,
    stop,
    async attempts(count: number) {
      while (ended < count) await once(lines, 'attempt')
    },
  }
}

export async function startQueue(t: Test, database: TestDatabase, duty: 'web' | 'worker') {
  const queue = openQueue(duty === 'web' ? database.url : database.workerUrl, duty, t.fail)
  await queue.start()
  t.teardown(() => queue.stop({ graceful: false }))
  return queue
}

/** Records an event with its job. */
export async function enqueue(database: TestDatabase, event: Event, { queue }: { queue: Queue }) {
  const eventId = await receive(database, event)
  await queue.insert(eventQueue, [newEventJob(eventId, parsed(bodyOf(event)))])
}

export async function jobsOf({ admin }: TestDatabase): Promise<Record<string, { state: string }>> {
  const { rows } = await admin.query(
    `SELECT data->>'eventId' AS event, state::text, retry_count FROM pgboss.job
     WHERE name = 'billing-event'`,
  )
  return Object.fromEntries(rows.map(({ event, ...job }) => [event, job]))
}
