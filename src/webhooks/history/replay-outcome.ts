import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { DeliveryStatus } from './deliveries.ts'
import { deliveryConditions } from './filter.ts'
import type { EndpointReplay } from './replays.ts'

/** The present states of the deliveries that a replay has started again. */
export type ReplayOutcome = Record<DeliveryStatus, number> & {
  /** The range has more deliveries than are read. */
  isPartial: boolean
}

/** Deliveries that are read, the newest ones of the range: the page stays quick in a long history. */
export const readDeliveries = 10_000

/**
 * Counts what became of a replay. A delivery belongs to it if it was sent again by hand and had not already
 * finished before the replay; one that was replayed again later counts as it is now.
 */
export async function findReplayOutcome(
  tx: Tx,
  scope: TenantScope,
  { endpointId, from, to, eventType, eventId, deliveryIds, createdAt }: EndpointReplay,
  limit: number = readDeliveries,
): Promise<ReplayOutcome> {
  const range = deliveryConditions(scope, endpointId, { from, to, ids: deliveryIds ?? undefined })
  const rows = await tx.sql<{ status: DeliveryStatus | null; count: number }>`
    WITH newest AS MATERIALIZED (
      SELECT d.status, d.series, d.finished_at, d.event_type, d.event_id FROM deliveries d
      WHERE ${range} ORDER BY d.created_at DESC LIMIT ${limit + 1}::int)
    SELECT status, count(*)::int AS count FROM newest
    WHERE series > 0 AND (finished_at IS NULL OR finished_at >= ${createdAt}::timestamptz)
      AND ${eventType === null ? Prisma.sql`true` : Prisma.sql`event_type = ${eventType}`}
      AND ${eventId === null ? Prisma.sql`true` : Prisma.sql`event_id = ${eventId}`}
    GROUP BY status
    UNION ALL SELECT NULL, count(*)::int FROM newest`
  const countOf = (status: DeliveryStatus | null) =>
    rows.find((row) => row.status === status)?.count ?? 0
  return {
    pending: countOf('pending'),
    succeeded: countOf('succeeded'),
    exhausted: countOf('exhausted'),
    isPartial: countOf(null) > limit,
  }
}
