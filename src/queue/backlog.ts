import { Gauge, type Registry } from 'prom-client'
import type { Queryable } from '#src/db/system-database.ts'
import { queueNames } from './queue.ts'

export type QueueMetrics = ReturnType<typeof createQueueMetrics>

/** The numbers of the job queues, dead letters included. */
export function createQueueMetrics(registry: Registry) {
  const registers = [registry]
  const labelNames = ['queue'] as const
  return {
    due: new Gauge({
      name: 'gatehouse_queue_due_jobs',
      help: 'Jobs whose time has come and that nobody has begun, counted to 100,000',
      labelNames,
      registers,
    }),
    scheduled: new Gauge({
      name: 'gatehouse_queue_scheduled_jobs',
      help: 'Jobs for later, retries among them, counted to 100,000',
      labelNames,
      registers,
    }),
    oldestAge: new Gauge({
      name: 'gatehouse_queue_oldest_due_age_seconds',
      help: 'How long the oldest of the due jobs has waited since its time came',
      labelNames,
      registers,
    }),
  }
}

const most = 100_000 // counted up to here, so that a scrape stays cheap however long a queue is

/** Sets the numbers of every queue; those of a queue that does not exist are 0. */
export async function measureQueues(plane: Queryable, metrics: QueueMetrics): Promise<void> {
  const { rows } = await plane.query<{
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
    values: [queueNames, most],
  })
  for (const { queue, due, scheduled, age } of rows) {
    metrics.due.set({ queue }, due)
    metrics.scheduled.set({ queue }, scheduled)
    metrics.oldestAge.set({ queue }, Math.max(age ?? 0, 0))
  }
}
