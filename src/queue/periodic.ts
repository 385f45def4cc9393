import type { Job, PgBoss } from 'pg-boss'
import type { DueJobs } from './due-jobs.ts'
import type { Jobs, PeriodicQueue } from './queue.ts'

/** What the next run gets, and when. */
type Next<Data> = { data: Data; seconds: number }

/**
 * Runs `work` now, and again and again, in one worker at a time: each job queues the next one. At most one
 * job waits, however many workers start.
 * @param work null if there is no next run
 */
export async function workPeriodically<Name extends PeriodicQueue>(
  { queue, due }: { queue: PgBoss; due: DueJobs },
  name: Name,
  work: (data: Jobs[Name]) => Promise<Next<Jobs[Name]> | null>,
): Promise<void> {
  await due.work(name, {}, async (jobs: Job<Jobs[Name]>[]) => {
    for (const job of jobs) {
      const next = await work(job.data)
      if (next !== null) await queue.send(name, next.data, { startAfter: next.seconds })
    }
  })
  await queue.send(name, {})
}
