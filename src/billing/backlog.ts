import type { Queryable } from '#src/db/system-database.ts'
import type { BillingMetrics } from './metrics.ts'

const statuses = ['recorded', 'failed', 'dead'] as const
const most = 100_000 // counted up to here, so that a scrape stays cheap however long the queue is

/** Sets the numbers of what waits for work or for a person, counted to 100,000 of each. */
export async function measureBacklog(plane: Queryable, metrics: BillingMetrics): Promise<void> {
  const { rows } = await plane.query<{ status: string; events: number; age: number | null }>({
    text: `
      SELECT s.status,
        (SELECT count(*)::int FROM (
           SELECT FROM received_events e
           WHERE e.status = s.status AND e.status <> 'processed' LIMIT $2) AS counted) AS events,
        (SELECT extract(epoch FROM now() - min(e.received_at))::float8 FROM received_events e
         WHERE e.status = s.status AND e.status <> 'processed') AS age
      FROM unnest($1::text[]) AS s (status)`,
    values: [statuses, most],
  })
  for (const { status, events, age } of rows) {
    metrics.backlogEvents.set({ status }, events)
    if (status === 'recorded') metrics.backlogAge.set(Math.max(age ?? 0, 0))
  }
}
