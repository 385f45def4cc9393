import { isCancelled } from '#src/db/errors.ts'
import type { Queryable } from '#src/db/system-database.ts'

/** Events of a batch at most. With up to 50 deliveries each, and their attempts, they can be too many. */
const batchRows = 500
const beforeAll = '00000000-0000-0000-0000-000000000000'

/** `feed`: for events of a tenant without an endpoint. Both exclusive. */
export type Cutoffs = { before: Date; feed: Date }

/** Numbers of deleted rows; `others` are finished replays, notifications and invitations. */
export type PurgedHistory = { events: number; others: number }

/**
 * Deletes events created before a cutoff, with their deliveries and attempts, and finished replays,
 * notifications and expired invitations from before `before`, in small commits, tenant by tenant. A batch that
 * takes longer than a statement may is halved, so that no tenant keeps those after it from their turn.
 */
export async function purgeHistory(systemDb: Queryable, cutoffs: Cutoffs): Promise<PurgedHistory> {
  const purged = { events: 0, others: 0 }
  let tenantAfter = beforeAll
  let batch = batchRows
  for (;;) {
    const rows = await purgeBatch(systemDb, tenantAfter, cutoffs, batch).catch((error) => {
      if (!isCancelled(error) || batch === 1) throw error
      return null
    })
    if (rows === null) {
      batch = Math.floor(batch / 2)
      continue
    }
    const [row] = rows
    if (row === undefined) return purged
    purged.events += row.events
    purged.others += row.others
    if (row.more) continue
    tenantAfter = row.tenant_id
    batch = batchRows
  }
}

type Batch = PurgedHistory & { tenant_id: string; more: boolean }

function purgeBatch(
  { sql }: Queryable,
  tenantAfter: string,
  { before, feed }: Cutoffs,
  rows: number,
): Promise<Batch[]> {
  return sql<Batch>`
    SELECT tenant_id, events, others, more FROM purge_history(${tenantAfter}, ${before}, ${feed}, ${rows})`
}
