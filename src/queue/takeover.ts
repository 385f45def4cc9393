import type { PgBoss } from 'pg-boss'
import type { JobLog } from '#src/observability/logger.ts'
import type { Claim } from './job-table.ts'

/** A worker without a heartbeat for so long is dead. Four heartbeats of a living one may fail. */
export const lapseMs = 5_000

export type Takeover = {
  /** After trouble with the database: a living worker could not send its heartbeat meanwhile. */
  distrust(): void
  /**
   * Returns jobs without a heartbeat for `lapseMs` to their queues, so that another worker continues
   * them. Nothing is taken over for `lapseMs` after `distrust`.
   */
  takeOver(lapsed: readonly Claim[]): Promise<void>
}

/** Takes over the jobs of dead workers, in every worker. */
export function createTakeover(queue: Pick<PgBoss, 'fail'>, logger: JobLog): Takeover {
  let trustedFrom = 0
  return {
    distrust() {
      trustedFrom = performance.now() + lapseMs
    },
    async takeOver(lapsed) {
      if (performance.now() < trustedFrom) return
      for (const [name, jobs] of Map.groupBy(lapsed, ({ name }) => name)) {
        // Fails only the attempts that were found: a job fetched again meanwhile is left alone.
        await queue.fail(name, jobs, { message: 'the worker stopped responding' })
        logger.warn(
          { queue: name, jobs: jobs.length },
          'jobs of a dead worker returned to the queue',
        )
      }
    },
  }
}
