import type { TenantScope, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { feedOf, type Page } from '#src/http/pagination.ts'

/** What was or would have been sent, member for member as it is sent. */
export type SentEvent = { id: string; type: string; createdAt: string; data: unknown }

// Any 19 digits are a transaction id of 64 bits; a sequence number stays below 2^53.
export const eventFeed = { name: 'events', forms: [/^\d{1,19}$/, /^[1-9]\d{0,15}$/] }

type EventRow = { body: string; xact_id: string; sequence: string }

/**
 * The tenant's events in order, from behind a cursor on. Rows become visible in the order of their
 * commits; to never pass one that commits late, the feed stops below the oldest transaction that
 * is still under way.
 */
export async function readFeed(tx: Tx, scope: TenantScope, page: Page) {
  const [xactId, sequence] = page.after ?? []
  const behind =
    xactId === undefined || sequence === undefined
      ? Prisma.sql`true`
      : Prisma.sql`(xact_id, sequence) > (${xactId}::xid8, ${sequence}::bigint)`
  // The order is by the columns; without the table's name it would be by the texts.
  const rows = await tx.$queryRaw<EventRow[]>`
    SELECT body, xact_id::text, sequence::text FROM outbound_events
    WHERE tenant_id = ${scope.tenantId}::uuid AND ${behind}
      AND xact_id < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY outbound_events.xact_id, outbound_events.sequence LIMIT ${page.limit}`
  return feedOf(rows, eventFeed.name, (row) => [row.xact_id, row.sequence], toEvent)
}

function toEvent({ body }: EventRow): SentEvent {
  return JSON.parse(body)
}
