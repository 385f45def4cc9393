import type { TestDatabase } from './helper.ts'
import { until } from './until.ts'

/**
 * Resolves when the feed can show all current events: every writing transaction of the cluster that
 * began before they were committed has ended.
 */
export async function untilInFeed(database: Pick<TestDatabase, 'admin'>): Promise<void> {
  await until(
    database,
    `SELECT FROM outbound_events WHERE xact_id >= pg_snapshot_xmin(pg_current_snapshot())
     HAVING count(*) = 0`,
  )
}
