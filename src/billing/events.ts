import Type from 'typebox'
import { Prisma } from '#src/db/generated/client.ts'
import { keyset, timeConditions } from '#src/db/keyset.ts'
import type { Queryable } from '#src/db/system-database.ts'
import {
  type Count,
  maxCounted,
  type Page,
  type PageResult,
  pageOf,
} from '#src/http/lists/pagination.ts'
import type { BillingMetrics } from '#src/observability/metrics.ts'

export const eventStatuses = [
  'recorded',
  'processed',
  'ignored',
  'unlinked',
  'failed',
  'dead',
  'dismissed',
] as const
export type EventStatus = (typeof eventStatuses)[number]

/** A received event and its processing. Times are RFC 3339 in UTC. */
export type ReceivedEvent = {
  id: string
  type: string
  receivedAt: string
  status: EventStatus
  attempts: number
  lastError: string | null
  /**
   * Result of processing: processed, stale or gone; null before. Of an ignored event the reason: kind,
   * guest, test-mode or connected-account. Of an unlinked event: second-customer.
   */
  outcome: string | null
  processedAt: string | null
  /** Duplicates of the id with another body. The first body is stored. */
  otherBodies: number
  /** `reconciled`: it came from the provider's list, because its webhook never arrived. */
  source: 'webhook' | 'reconciled'
  /** Why an operator dismissed it; null unless its status is `dismissed`. */
  dismissedReason: string | null
  /** The customer whose link it waits for; null unless its status is `unlinked`. */
  customer: string | null
  /** Whether the app has it; null if it is not posted to the app. */
  forwarding: Forwarding | null
}

export const forwardingStatuses = ['waiting', 'delivered', 'failed'] as const

/** The posting of a processed event to the app. `failed`: no further attempt is made by itself. */
export type Forwarding = {
  status: (typeof forwardingStatuses)[number]
  attempts: number
  lastError: string | null
  /** End of the last attempt. */
  attemptedAt: string | null
}

export type EventFilter = {
  status?: EventStatus | undefined
  forwarding?: Forwarding['status'] | undefined
  type?: string | undefined
  /** Received at or after, and before. */
  from?: string | undefined
  to?: string | undefined
}

type Row = Omit<ReceivedEvent, 'receivedAt' | 'processedAt' | 'forwarding'> & {
  receivedAt: Date
  processedAt: Date | null
  forwarding: Forwarding['status'] | null
  forwardAttempts: number
  forwardError: string | null
  forwardedAt: Date | null
}

const columns = Prisma.sql`event_id AS id, type, received_at AS "receivedAt", status, attempts,
  last_error AS "lastError", outcome, processed_at AS "processedAt",
  other_bodies AS "otherBodies",
  CASE WHEN secret_index IS NULL THEN 'reconciled' ELSE 'webhook' END AS source,
  CASE WHEN status = 'dismissed' THEN dismissed_reason END AS "dismissedReason",
  CASE WHEN status = 'unlinked' THEN customer END AS customer, forwarding,
  forward_attempts AS "forwardAttempts", forward_error AS "forwardError",
  forwarded_at AS "forwardedAt"`

/** The cursor is the event's id. Rows are never deleted, so its time can be looked up. */
export const receivedList = {
  name: 'billing-events',
  forms: [/^[^\p{C}\p{Zl}\p{Zp}]{1,255}$/u],
}

/**
 * Received events, newest first. A filter by status is fast for every status but `processed`. To
 * find a rare `type`, limit the time with `from` and `to`.
 */
export async function listReceived(
  connection: Queryable,
  filter: EventFilter,
  page: Page,
): Promise<PageResult<ReceivedEvent>> {
  const [last] = page.after ?? []
  const { indexed, others } = conditionsOf(filter)
  const conditions = [
    ...indexed,
    ...others,
    keyset(
      [Prisma.sql`received_at`, Prisma.sql`event_id`],
      last === undefined ? null : [receivedAt(last), Prisma.sql`${last}`],
      page,
    ),
  ]
  const rows = await connection.sql<Row>`
      SELECT ${columns} FROM received_events WHERE ${Prisma.join(conditions, ' AND ')}`
  return pageOf(rows, page, receivedList.name, ({ id }) => [id], toReceived)
}

/** The newest events in which a filter without an index is counted. */
const searchedEvents = 10_000

/**
 * How many events such a list has.
 * @param searched how many of the newest are compared with a filter that has no index
 */
export async function countReceived(
  connection: Queryable,
  filter: EventFilter,
  searched = searchedEvents,
): Promise<Count> {
  const { indexed, others } = conditionsOf(filter)
  const looked = others.length === 0 ? maxCounted + 1 : searched
  const [counted] = await connection.sql<{ rows: number; looked: number }>`
    SELECT (count(*) FILTER (WHERE ${Prisma.join([Prisma.sql`true`, ...others], ' AND ')}))::int AS rows,
      count(*)::int AS looked
    FROM (SELECT status, forwarding, type FROM received_events
      WHERE ${Prisma.join(indexed, ' AND ')}
      ORDER BY received_at DESC, event_id DESC LIMIT ${looked}::int) AS newest`
  const { rows = 0, looked: seen = 0 } = counted ?? {}
  return { rows: Math.min(rows, maxCounted), more: rows > maxCounted || seen >= looked }
}

/** Conditions on received events: those that an index finds, and the others. */
function conditionsOf({ status, forwarding, type, ...range }: EventFilter) {
  // The literals let the planner see that a partial index contains the value.
  const indexed = [
    Prisma.sql`true`,
    ...(status === undefined || status === 'processed'
      ? []
      : [Prisma.sql`status = ${status} AND status <> 'processed'`]),
    ...(forwarding === undefined || forwarding === 'delivered'
      ? []
      : [Prisma.sql`forwarding = ${forwarding} AND forwarding <> 'delivered'`]),
    ...timeConditions(Prisma.sql`received_at`, range),
  ]
  const others = [
    ...(status === 'processed' ? [Prisma.sql`status = 'processed'`] : []),
    ...(forwarding === 'delivered' ? [Prisma.sql`forwarding = 'delivered'`] : []),
    ...(type === undefined ? [] : [Prisma.sql`type = ${type}`]),
  ]
  return { indexed, others }
}

function receivedAt(id: string): Prisma.Sql {
  return Prisma.sql`(SELECT received_at FROM received_events WHERE event_id = ${id})`
}

/** One event with its raw body as text (null once deleted); null if there is no such event. */
export async function findReceived(
  connection: Queryable,
  id: string,
): Promise<(ReceivedEvent & { body: string | null }) | null> {
  const [row] = await connection.sql<
    Row & { body: Uint8Array | null }
  >`SELECT ${columns}, body FROM received_events WHERE event_id = ${id}`
  if (row === undefined) return null
  const { body, ...event } = row
  return { ...toReceived(event), body: body && Buffer.from(body).toString('utf8') }
}

function toReceived(row: Row): ReceivedEvent {
  const {
    receivedAt,
    processedAt,
    forwarding,
    forwardAttempts,
    forwardError,
    forwardedAt,
    ...rest
  } = row
  return {
    ...rest,
    receivedAt: receivedAt.toISOString(),
    processedAt: processedAt?.toISOString() ?? null,
    forwarding: forwarding && {
      status: forwarding,
      attempts: forwardAttempts,
      lastError: forwardError,
      attemptedAt: forwardedAt?.toISOString() ?? null,
    },
  }
}

/** The outcome of an unlinked event whose customer is a second one of its user. */
export const secondCustomer = 'second-customer'

const backlogStatuses = ['recorded', 'unlinked', 'failed', 'dead'] as const
const maxMeasured = 100_000 // bounds the cost of a scrape
const maxLookedAt = 10_000 // customers, in the order of the page that names them (list_double_payers)

/** Sets the gauges of events that wait for a worker or an operator, up to `maxMeasured` of each. */
export async function measureBacklog(systemDb: Queryable, metrics: BillingMetrics): Promise<void> {
  const rows = await systemDb.sql<{ status: string; events: number; age: number | null }>`
    SELECT s.status,
      (SELECT count(*)::int FROM (
         SELECT FROM received_events e
         WHERE e.status = s.status AND e.status <> 'processed' LIMIT ${maxMeasured}) AS counted
      ) AS events,
      (SELECT extract(epoch FROM now() - min(e.received_at))::float8 FROM received_events e
       WHERE e.status = s.status AND e.status <> 'processed') AS age
    FROM unnest(${backlogStatuses}::text[]) AS s (status)`
  for (const { status, events, age } of rows) {
    metrics.backlogEvents.set({ status }, events)
    if (status === 'recorded') metrics.backlogAge.set(Math.max(age ?? 0, 0))
    if (status === 'failed') metrics.retryingAge.set(Math.max(age ?? 0, 0))
  }
}

/** Sets the gauges of people who pay twice. Workers alone can read the subscriptions. */
export async function measureDoublePayers(
  systemDb: Queryable,
  metrics: BillingMetrics,
): Promise<void> {
  const [row] = await systemDb.sql<{ customers: number; subscriptions: number }>`
    SELECT
      (SELECT count(DISTINCT customer)::int FROM (
         SELECT customer, outcome FROM received_events
         WHERE status = 'unlinked' LIMIT ${maxMeasured}) AS waiting
       WHERE outcome = ${secondCustomer}) AS customers,
      (SELECT count(*)::int FROM (
         SELECT DISTINCT customer FROM billing_objects WHERE beside IS NOT NULL
         ORDER BY customer LIMIT ${maxLookedAt}) AS d
       WHERE 1 < (SELECT count(*) FROM billing_objects o
                  WHERE o.customer = d.customer AND o.kind = 'subscription'
                    AND o.plan IS NOT NULL AND coalesce(o.cancels_at > now(), true))
      ) AS subscriptions`
  metrics.paidTwice.set({ by: 'customer' }, row?.customers ?? 0)
  metrics.paidTwice.set({ by: 'subscription' }, row?.subscriptions ?? 0)
}

export const Status = Type.Enum([...eventStatuses], {
  title: 'BillingEventStatus',
  description:
    '`recorded` and not processed yet; `processed`; `ignored`: it has no effect here; `unlinked`: it waits for a user of its customer; `failed`: it is tried again; `dead`: it is not tried again by itself; `dismissed` by an operator',
})

// Contract 5: an id or a type of the provider is 1 to 255 printable characters.
const printable = '^[^\\p{C}\\p{Zl}\\p{Zp}]+$'

/** A filter by type. */
export const EventType = Type.String({
  ...{ minLength: 1, maxLength: 255, pattern: printable },
  description: 'Only events of this kind, in the words of the billing provider',
})

/** A provider's event id in a path. */
export const EventParams = Type.Object(
  {
    id: Type.String({
      ...{ minLength: 1, maxLength: 255, pattern: printable },
      description: 'Id of the event at the billing provider',
    }),
  },
  { additionalProperties: false },
)

/** Bounds the cost of the page. */
export const mostCounted = 10_000

/** How many events have each status, up to `mostCounted` of each. */
export async function countByStatus(
  connection: Queryable,
): Promise<{ status: EventStatus; events: number }[]> {
  // Most rows are processed; the other statuses have a partial index.
  return connection.sql`
      SELECT s.status, CASE WHEN s.status = 'processed' THEN
        (SELECT count(*)::int FROM (
           SELECT FROM received_events WHERE status = 'processed' LIMIT ${mostCounted}) AS done)
      ELSE
        (SELECT count(*)::int FROM (
           SELECT FROM received_events e
           WHERE e.status = s.status AND e.status <> 'processed' LIMIT ${mostCounted}) AS few)
      END AS events
      FROM unnest(${[...eventStatuses]}::text[]) WITH ORDINALITY AS s (status, position)
      ORDER BY s.position`
}

/** How long the oldest event of a status has been waiting, in seconds; null without one. */
export type EventAge = { status: EventStatus; seconds: number | null }

/** The ages of events that wait for a worker or an operator, each from the partial index. */
export async function measureAges(connection: Queryable): Promise<EventAge[]> {
  return connection.sql`
      SELECT s.status, (
        SELECT GREATEST(extract(epoch FROM now() - e.received_at), 0)::float8 FROM received_events e
        WHERE e.status = s.status AND e.status <> 'processed'
        ORDER BY e.received_at LIMIT 1) AS seconds
      FROM unnest(${[...backlogStatuses]}::text[]) AS s (status)`
}
