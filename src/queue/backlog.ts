import type { Queryable } from '#src/db/system-database.ts'
import type { QueueMetrics } from '#src/observability/metrics.ts'
import { queueNames } from './queue.ts'

const maxMeasured = 100_000 // bounds the cost of a scrape

/** Sets the gauges of every queue, up to `maxMeasured` jobs each; 0 for a queue that does not exist. */
export async function measureQueues(systemDb: Queryable, metrics: QueueMetrics): Promise<void> {
  const { rows } = await systemDb.query<{
    queue: string
    due: number
    scheduled: number
    age: number | null
  }>({
    text: `
      SELECT queue, due.jobs AS due, due.age, later.jobs AS scheduled
      FROM unnest($1::text[]) AS queue
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS jobs,
          extract(epoch FROM pgboss.job_now() - min(start_after))::float8 AS age
        FROM (
          SELECT start_after FROM pgboss.job_common
          WHERE name = queue AND state < 'active' AND NOT blocked
            AND start_after <= pgboss.job_now()
          ORDER BY priority DESC, created_on LIMIT $2) AS counted) AS due
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS jobs FROM (
          SELECT FROM pgboss.job_common
          WHERE name = queue AND state < 'active' AND NOT blocked
            AND start_after > pgboss.job_now() LIMIT $2) AS counted) AS later`,
    values: [queueNames, maxMeasured],
  })
  for (const { queue, due, scheduled, age } of rows) {
    metrics.due.set({ queue }, due)
    metrics.scheduled.set({ queue }, scheduled)
    metrics.oldestAge.set({ queue }, Math.max(age ?? 0, 0))
  }
}
