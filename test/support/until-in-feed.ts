import type { TestDatabase } from './helper.ts'
import { until } from './until.ts'

/**
 * Resolves when the feed may show every event there is: no transaction that began before theirs
 * ended still writes, in whichever database of the cluster.
 */
export async function untilInFeed(database: Pick<TestDatabase, 'admin'>): Promise<void> {
  await until(
    database,
    `SELECT FROM outbound_events WHERE xact_id >= pg_snapshot_xmin(pg_current_snapshot())
     HAVING count(*) = 0`,
  )
}
