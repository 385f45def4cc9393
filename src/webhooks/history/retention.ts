import type { Queryable } from '#src/db/system-database.ts'

const batchRows = 500
const beforeAll = '00000000-0000-0000-0000-000000000000'

/** `feed`: for events of a tenant without an endpoint. Both exclusive. */
export type Cutoffs = { before: Date; feed: Date }

/** Numbers of deleted rows; `others` are finished replays, notifications and invitations. */
export type PurgedHistory = { events: number; others: number }

/**
 * Deletes events created before a cutoff, with their deliveries and attempts, and finished replays,
 * notifications and expired invitations from before `before`, in small commits, tenant by tenant.
 */
export async function purgeHistory(
  systemDb: Queryable,
  { before, feed }: Cutoffs,
): Promise<PurgedHistory> {
  const purged = { events: 0, others: 0 }
  let tenantAfter = beforeAll
  for (;;) {
    const [row] = await systemDb.sql<PurgedHistory & { tenant_id: string; more: boolean }>`
      SELECT tenant_id, events, others, more FROM purge_history(${tenantAfter}, ${before}, ${feed},
        ${batchRows})`
    if (row === undefined) return purged
    purged.events += row.events
    purged.others += row.others
    if (!row.more) tenantAfter = row.tenant_id
  }
}
