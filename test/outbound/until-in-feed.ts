import type { TestDatabase } from '#test/helper.ts'

/**
 * Resolves when the feed may show every event there is: no transaction that began before theirs
 * ended still writes, in whichever database of the cluster.
 */
export async function untilInFeed({ admin }: Pick<TestDatabase, 'admin'>): Promise<void> {
  const waiting = `SELECT FROM outbound_events
    WHERE xact_id >= pg_snapshot_xmin(pg_current_snapshot())`
  while ((await admin.query(waiting)).rowCount !== 0);
}
