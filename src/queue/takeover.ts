import type { PgBoss } from 'pg-boss'
import type { JobLog } from '#src/observability/logger.ts'
import { type Repeated, repeat } from '#src/runtime/repeat.ts'
import { type Claim, findLapsed } from './job-table.ts'
import { groupedQueues, heartbeatMs, ungroupedQueues } from './queue.ts'

/** A worker without a heartbeat for so long is dead. Four heartbeats of a living one may fail. */
export const lapseMs = 5_000
const lookMs = 3_000

type Queue = Pick<PgBoss, 'fail' | 'getDb'>

/**
 * Returns the jobs of dead workers to their queues, in every worker, so that another worker continues
 * them within 10 s: `lapseMs`, the time until the next look, and that until the jobs are fetched.
 *
 * After trouble with the database nothing is taken over for `lapseMs`, because a living worker could
 * not send its heartbeat meanwhile.
 */
export function startTakeover(queue: Queue, logger: JobLog): Repeated {
  let trustedFrom = 0
  return repeat(run, {
    everyMs: lookMs,
    atOnce: true,
    onError(error) {
      distrust()
      logger.warn({ err: error }, 'jobs of dead workers could not be looked up')
    },
  })

  async function run(): Promise<void> {
    const begun = performance.now()
    const lapsed = await findLapsed(queue, groupedQueues, ungroupedQueues, lapseMs)
    if (performance.now() - begun > heartbeatMs) distrust()
    if (performance.now() >= trustedFrom) await takeOver(lapsed)
  }

  function distrust(): void {
    trustedFrom = performance.now() + lapseMs
  }

  async function takeOver(lapsed: readonly Claim[]): Promise<void> {
    for (const [name, jobs] of Map.groupBy(lapsed, ({ name }) => name)) {
      // Fails only the attempts that were found: a job fetched again meanwhile is left alone.
      await queue.fail(name, jobs, { message: 'the worker stopped responding' })
      logger.warn({ queue: name, jobs: jobs.length }, 'jobs of a dead worker returned to the queue')
    }
  }
}
