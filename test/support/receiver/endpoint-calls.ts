import type { Test } from 'tap'
import { openDatabase } from '#src/db/database.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { startDueJobs } from '#src/queue/due-jobs.ts'
import { openQueue } from '#src/queue/queue.ts'
import { workCalls } from '#src/webhooks/probe/worker.ts'
import type { TestApp } from '#test/support/app/app.ts'
import { patient } from '#test/support/database/open.ts'

/**
 * The part of a worker that calls endpoints for requests that wait, with the settings of the server.
 * Its errors are the log of the server.
 */
export async function startCallers(
  t: Test,
  { app, config }: Pick<TestApp, 'app' | 'config'>,
): Promise<void> {
  const { workerUrl } = config.database
  const queue = openQueue(workerUrl, 'worker', (error) => app.log.error({ err: error }, 'queue'))
  await queue.start()
  const due = await startDueJobs({ queue, listens: true, logger: app.log })
  const db = openDatabase(workerUrl, 4, patient)
  const systemDb = openSystemDatabase(workerUrl, 2, patient)
  const { clock, encryptionKeys: keys } = config
  const deps = { queue, due, db, systemDb, keys, clock, logger: app.log }
  const callers = await workCalls(config.outbound, deps)
  t.teardown(async () => {
    await Promise.all([callers.stop(), due.stop()])
    await queue.stop({ graceful: false })
    await Promise.all([db.close(), systemDb.close()])
  })
}
