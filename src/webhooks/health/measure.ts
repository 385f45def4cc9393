import type { Queryable } from '#src/db/system-database.ts'
import type { OutboundMetrics } from '#src/observability/metrics.ts'
import { healthStateOf, healthStates, type StateFacts } from './health.ts'

const maxMeasured = 100_000 // bounds the cost of a scrape

/** Sets the gauge of endpoints by the state of their health, among at most `maxMeasured`. */
export async function measureHealth(
  systemDb: Queryable,
  metrics: Pick<OutboundMetrics, 'endpoints'>,
): Promise<void> {
  const rows = await systemDb.sql<StateFacts & { endpoints: number }>`
    SELECT status, is_paused AS "isPaused", is_recovering AS "isRecovering",
      is_retrying AS "isRetrying", endpoints
    FROM measure_endpoints(${maxMeasured})`
  for (const state of healthStates) {
    const own = rows.filter((row) => healthStateOf(row) === state)
    metrics.endpoints.set(
      { state },
      own.reduce((sum, { endpoints }) => sum + endpoints, 0),
    )
  }
}
