import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { keyset, type TimeRange, timeConditions, withinBytes } from '#src/db/keyset.ts'
import { type Count, feedOf, maxCounted, type Page, pageOf } from '#src/http/lists/pagination.ts'

/** An event with the fields of its delivery, whether it was sent or not. */
export type SentEvent = { id: string; type: string; createdAt: string; data: unknown }

// Every number of 19 digits fits a 64-bit transaction id. A sequence number is below 2^53.
export const eventFeed = { name: 'events', forms: [/^\d{1,19}$/, /^[1-9]\d{0,15}$/] }

export type FeedFilter = TimeRange & { readonly type?: string | undefined }

type EventRow = { body: string; xact_id: string; sequence: string }

/**
 * The tenant's events in order, after a cursor. Rows become visible when their transaction commits.
 * The feed stops at `feed_horizon()`, before the oldest transaction in progress, so that it never skips a
 * late commit. Examples are left out, because they report no change.
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
    Prisma.sql`xact_id < feed_horizon()`,
    Prisma.sql`NOT example`,
  ]
  // With the table's name the order is by the columns, without it by their text aliases.
  const first = Prisma.sql`
    SELECT body, xact_id::text, sequence::text FROM outbound_events
    WHERE ${Prisma.join(conditions, ' AND ')}
    ORDER BY outbound_events.xact_id, outbound_events.sequence LIMIT ${page.limit}`
  const rows = await tx.sql<EventRow>(withinBytes(first, Prisma.sql`octet_length(body)`))
  return feedOf(rows, page, eventFeed.name, (row) => [row.xact_id, row.sequence], toEvent)
}

/** An event without its body. `createdAt` is RFC 3339 in UTC. */
export type RecentEvent = { id: string; type: string; createdAt: string }

/** An event of a list, with the id of its object (null if its data begin with none). */
export type ListedEvent = RecentEvent & { objectId: string | null }

export const recentEventList = { name: 'recent-events', forms: eventFeed.forms }

type RecentRow = {
  id: string
  object_id: string | null
  type: string
  created_at: Date
  xact_id: string
  sequence: string
}

/** The newest events in which an object is searched: its id has no index. */
export const searchedEvents = 10_000

// `publish` writes the fields of a body in this order.
const objectId = Prisma.sql`substring(left(body, 500) FROM
  '^\\{"id":"[^"]*","type":"[^"]*","createdAt":"[^"]*","data":\\{"id":"?([^",}]{1,64})')`

/**
 * The tenant's events, newest first, for people: unlike the feed it includes events that an older
 * transaction may still precede.
 * @param search the id of an event, or of the object of one of the newest `searchedEvents`
 */
export async function listRecentEvents(
  tx: Tx,
  scope: TenantScope,
  page: Page,
  filter: RecentFilter = {},
) {
  const { search } = filter
  const [xactId, sequence] = page.after ?? []
  const keys = [Prisma.sql`outbound_events.xact_id`, Prisma.sql`outbound_events.sequence`]
  const last =
    xactId === undefined || sequence === undefined
      ? null
      : [Prisma.sql`${xactId}::xid8`, Prisma.sql`${sequence}::bigint`]
  const { tenantId } = scope
  const events =
    search === undefined
      ? Prisma.sql`SELECT * FROM outbound_events WHERE tenant_id = ${tenantId}::uuid`
      : matching(tenantId, search)
  const rows = await tx.sql<RecentRow>`
    SELECT id, type, created_at, xact_id::text, sequence::text, ${objectId} AS object_id
    FROM (${events}) AS outbound_events
    WHERE ${recentConditions(filter)} AND ${keyset(keys, last, page)}`
  return pageOf(
    rows,
    page,
    recentEventList.name,
    (row) => [row.xact_id, row.sequence],
    ({ id, type, created_at, object_id: objectId }): ListedEvent => {
      return { id, type, createdAt: created_at.toISOString(), objectId }
    },
  )
}

export type RecentFilter = FeedFilter & {
  /** The id of an event, or of the object of one of the newest `searchedEvents`. */
  readonly search?: string | undefined
}

function recentConditions({ type, from, to }: RecentFilter): Prisma.Sql {
  const ofType = type === undefined ? Prisma.sql`true` : Prisma.sql`type = ${type}`
  return Prisma.join([ofType, ...timeConditions(Prisma.sql`created_at`, { from, to })], ' AND ')
}

/** How many events such a list has: among the newest `searchedEvents` if it has a filter. */
export async function countRecentEvents(
  tx: Tx,
  { tenantId }: TenantScope,
  filter: RecentFilter,
): Promise<Count> {
  const { search } = filter
  const isAll = Object.values(filter).every((value) => value === undefined)
  const looked = isAll ? maxCounted + 1 : searchedEvents
  const events =
    search === undefined
      ? Prisma.sql`SELECT * FROM outbound_events WHERE tenant_id = ${tenantId}::uuid
          ORDER BY xact_id DESC, sequence DESC LIMIT ${looked}`
      : matching(tenantId, search)
  const [counted] = await tx.sql<{ rows: number; looked: number }>`
    SELECT (count(*) FILTER (WHERE ${recentConditions(filter)}))::int AS rows, count(*)::int AS looked
    FROM (${events}) AS outbound_events`
  const { rows = 0, looked: seen = 0 } = counted ?? {}
  return { rows: Math.min(rows, maxCounted), more: rows > maxCounted || seen >= looked }
}

/** The event with this id, and of the newest events those about an object with it. */
function matching(tenantId: string, search: string): Prisma.Sql {
  return Prisma.sql`
    SELECT * FROM outbound_events WHERE tenant_id = ${tenantId}::uuid AND id = ${search}
    UNION ALL
    SELECT * FROM (
      SELECT * FROM outbound_events WHERE tenant_id = ${tenantId}::uuid
      ORDER BY xact_id DESC, sequence DESC LIMIT ${searchedEvents}) newest
    WHERE id <> ${search} AND ${objectId} = ${search}`
}

/** An event of the tenant with its body and what caused it; null if missing or another tenant's. */
export async function findEvent(tx: Tx, { tenantId }: TenantScope, id: string) {
  const row = await tx.outboundEvent.findFirst({
    where: { tenantId, id },
    select: { id: true, type: true, body: true, createdAt: true, cause: true },
  })
  return row && { ...row, createdAt: row.createdAt.toISOString() }
}

function toEvent({ body }: EventRow): SentEvent {
  return JSON.parse(body)
}
