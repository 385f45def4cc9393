import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { type TimeRange, timeConditions } from '#src/db/keyset.ts'
import { feedOf, type Page } from '#src/http/pagination.ts'

/** An event with the fields of its delivery, whether it was sent or not. */
export type SentEvent = { id: string; type: string; createdAt: string; data: unknown }

// Every number of 19 digits fits a 64-bit transaction id. A sequence number is below 2^53.
export const eventFeed = { name: 'events', forms: [/^\d{1,19}$/, /^[1-9]\d{0,15}$/] }

export type FeedFilter = TimeRange & { readonly type?: string | undefined }

type EventRow = { body: string; xact_id: string; sequence: string }

/**
 * The tenant's events in order, after a cursor. Rows become visible when their transaction commits.
 * The feed stops before the oldest transaction in progress, so that it never skips a late commit.
 * Examples are left out, because they report no change.
 */
export async function readFeed(
  tx: Tx,
  scope: TenantScope,
  page: Page,
  { type, ...range }: FeedFilter = {},
) {
  const [xactId, sequence] = page.after ?? []
  const conditions = [
    Prisma.sql`tenant_id = ${scope.tenantId}::uuid`,
    ...(type === undefined ? [] : [Prisma.sql`type = ${type}`]),
    ...timeConditions(Prisma.sql`created_at`, range),
    ...(xactId === undefined || sequence === undefined
      ? []
      : [Prisma.sql`(xact_id, sequence) > (${xactId}::xid8, ${sequence}::bigint)`]),
    Prisma.sql`xact_id < pg_snapshot_xmin(pg_current_snapshot())`,
    Prisma.sql`NOT example`,
  ]
  // With the table's name the order is by the columns, without it by their text aliases.
  const rows = await tx.$queryRaw<EventRow[]>`
    SELECT body, xact_id::text, sequence::text FROM outbound_events
    WHERE ${Prisma.join(conditions, ' AND ')}
    ORDER BY outbound_events.xact_id, outbound_events.sequence LIMIT ${page.limit}`
  return feedOf(rows, page, eventFeed.name, (row) => [row.xact_id, row.sequence], toEvent)
}

function toEvent({ body }: EventRow): SentEvent {
  return JSON.parse(body)
}
