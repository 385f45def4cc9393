import type { TestDatabase } from '#test/support/database/database.ts'
import { isOnCluster } from '#test/support/database/template.ts'
import { until } from '#test/support/database/until.ts'

/**
 * Resolves when the feed can show all current events: every writing transaction of the cluster that
 * began before they were committed has ended. On a cluster an event is in the feed once it is committed.
 */
export async function untilInFeed(database: Pick<TestDatabase, 'admin'>): Promise<void> {
  if (isOnCluster()) return
  await until(
    database,
    `SELECT FROM outbound_events WHERE xact_id >= pg_snapshot_xmin(pg_current_snapshot())
     HAVING count(*) = 0`,
  )
}
