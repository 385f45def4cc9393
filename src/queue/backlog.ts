import type { Queryable } from '#src/db/system-database.ts'
import type { QueueMetrics } from '#src/observability/metrics.ts'
import { jobs as ofApp } from '#src/resources/running-app.ts'
import { measureAppJobs, measureJobs, type QueueSize } from './job-table.ts'
import { queueNames } from './queue.ts'

const maxMeasured = 100_000 // bounds the cost of a scrape

/**
 * Sets the gauges of every queue and job of the app, up to `maxMeasured` jobs each; 0 for a queue that does not exist. What
 * waits in the queue `deliver` are due attempts, whose table is not that of pg-boss.
 */
export async function measureQueues(systemDb: Queryable, metrics: QueueMetrics): Promise<void> {
  const jobs = await measureJobs(systemDb, queueNames, maxMeasured)
  const attempts = await systemDb.sql<QueueSize>`
    SELECT 'deliver' AS queue, due, scheduled, age FROM measure_due_attempts(${maxMeasured})`
  for (const { queue, due, scheduled, age } of [...jobs, ...attempts]) {
    metrics.due.set({ queue }, due)
    metrics.scheduled.set({ queue }, scheduled)
    metrics.oldestAge.set({ queue }, Math.max(age ?? 0, 0))
  }
  const named = ofApp.map(({ name }) => name)
  if (named.length === 0) return
  for (const { job, age, ...states } of await measureAppJobs(systemDb, named, maxMeasured)) {
    for (const [state, jobs] of Object.entries(states)) metrics.appJobs.set({ job, state }, jobs)
    metrics.appJobAge.set({ job }, Math.max(age ?? 0, 0))
  }
}
