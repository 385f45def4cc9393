import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { appQueue } from '#src/queue/app/enqueue.ts'

const lookMs = 10
const limitMs = 30_000

/**
 * Waits until no job or hook of the app is due or in progress.
 * @throws Error with the message of the first that failed, or if it takes half a minute
 */
export async function untilJobsAreDone({
  admin,
}: {
  admin: Pick<pg.Pool, 'query'>
}): Promise<void> {
  for (const end = performance.now() + limitMs; ; await pause(lookMs)) {
    const { rows } = await admin.query<{ job: string; failure: string | null }>(
      `SELECT data->>'job' AS job, output->>'message' AS failure FROM pgboss.job
       WHERE name = $1 AND (state IN ('retry', 'failed')
         OR state IN ('created', 'active') AND start_after <= now())
       ORDER BY state = 'retry' DESC, created_on`,
      [appQueue],
    )
    const [first] = rows
    if (first === undefined) return
    if (first.failure !== null) throw new Error(first.failure)
    if (performance.now() > end) throw new Error(`The job ${first.job} has not ended.`)
  }
}
