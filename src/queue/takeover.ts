import { setTimeout as wait } from 'node:timers/promises'
import type { Job, PgBoss } from 'pg-boss'
import type { JobLog } from '#src/observability/logger.ts'
import { groupedQueues, heartbeatMs, ungroupedQueues } from './queue.ts'

/** A worker without a heartbeat for so long is dead. Four heartbeats of a living one may fail. */
export const lapseMs = 5_000

type Queue = Pick<PgBoss, 'fail' | 'getDb'>
type Lapsed = Pick<Job, 'name' | 'id' | 'retryCount'>

/**
 * Returns the jobs of dead workers to their queues, once a second in every worker, so that another
 * worker continues them within 10 s. pg-boss itself allows no less than 10 s between a heartbeat and
 * the end of a job, and its supervision counts all jobs each time.
 *
 * After trouble with the database nothing is taken over for `lapseMs`, because a living worker could
 * not send its heartbeat meanwhile.
 */
export function startTakeover(queue: Queue, logger: JobLog): { stop(): Promise<void> } {
  const stopping = new AbortController()
  let trustedFrom = 0

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const begun = performance.now()
      try {
        const lapsed = await findLapsed(queue)
        if (performance.now() - begun > heartbeatMs) distrust()
        if (performance.now() >= trustedFrom) await takeOver(lapsed)
      } catch (error) {
        distrust()
        logger.warn({ err: error }, 'jobs of dead workers could not be looked up')
      }
      await wait(heartbeatMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  function distrust(): void {
    trustedFrom = performance.now() + lapseMs
  }

  async function takeOver(lapsed: readonly Lapsed[]): Promise<void> {
    for (const [name, jobs] of Map.groupBy(lapsed, ({ name }) => name)) {
      // Fails only the attempts that were found: a job fetched again meanwhile is left alone.
      await queue.fail(name, jobs, { message: 'the worker stopped responding' })
      logger.warn({ queue: name, jobs: jobs.length }, 'jobs of a dead worker returned to the queue')
    }
  }

  const running = run()
  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/**
 * Active jobs are few among many. Those with a group are found by an index of pg-boss, the queues
 * without groups by their name.
 */
async function findLapsed(queue: Queue): Promise<Lapsed[]> {
  const { rows } = await queue.getDb().executeSql(
    `SELECT name, id, retry_count AS "retryCount" FROM pgboss.job_common
     WHERE name = ANY ($1::text[]) AND group_id IS NOT NULL AND ${lapsed}
     UNION ALL
     SELECT name, id, retry_count FROM pgboss.job_common WHERE name = ANY ($2::text[]) AND ${lapsed}`,
    [groupedQueues, ungroupedQueues, lapseMs],
  )
  return rows
}

// A job without `heartbeat_seconds` was added by an earlier release, whose workers send none.
const lapsed = `state = 'active' AND heartbeat_seconds IS NOT NULL
  AND heartbeat_on < pgboss.job_now() - make_interval(secs => $3::float8 / 1000)`
