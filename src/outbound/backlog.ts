import type { Queryable } from '#src/db/identity-plane.ts'
import { deliverQueue } from './deliver-job.ts'
import type { OutboundMetrics } from './metrics.ts'

const most = 100_000 // counted up to here, so that a scrape stays cheap however long the queue is

/** Sets the number of attempts that are due, counted to 100,000. */
export async function measureWaiting(plane: Queryable, metrics: OutboundMetrics): Promise<void> {
  const { rows } = await plane.query<{ waiting: number }>({
    text: `
      SELECT count(*)::int AS waiting FROM (
        SELECT FROM pgboss.job_common
        WHERE name = $1 AND state < 'active' AND NOT blocked AND start_after <= pgboss.job_now()
        LIMIT $2) AS counted`,
    values: [deliverQueue, most],
  })
  metrics.waiting.set(rows[0]?.waiting ?? 0)
}
