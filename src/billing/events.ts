import Type from 'typebox'
import type { Queryable } from '#src/db/system-database.ts'
import { type Page, pageOf } from '#src/http/pagination.ts'
import type { BillingMetrics } from '#src/observability/metrics.ts'

export const eventStatuses = ['recorded', 'processed', 'ignored', 'failed', 'dead'] as const
export type EventStatus = (typeof eventStatuses)[number]

/** What was received and what became of it. Times are RFC 3339 in UTC. */
export type ReceivedEvent = {
  id: string
  type: string
  receivedAt: string
  status: EventStatus
  attempts: number
  lastError: string | null
  /** What the work came to: processed, stale, gone; null until then. */
  outcome: string | null
  processedAt: string | null
  /** Copies of the id that came with another body; the first body stayed. */
  otherBodies: number
}

export type EventFilter = {
  status?: EventStatus | undefined
  type?: string | undefined
  /** Received at or after, and before. */
  from?: string | undefined
  to?: string | undefined
}

type Row = {
  event_id: string
  type: string
  received_at: Date
  received_us: string
  status: EventStatus
  attempts: number
  last_error: string | null
  outcome: string | null
  processed_at: Date | null
  other_bodies: number
}

const columns = `event_id, type, received_at, status, attempts, last_error, outcome, processed_at,
  other_bodies, (extract(epoch FROM received_at) * 1000000)::bigint AS received_us`
/** Name and key of the list, for its cursors: microseconds of receipt, event id. */
export const receivedList = {
  name: 'billing-events',
  forms: [/^\d{1,16}$/, /^[^\p{C}\p{Zl}\p{Zp}]{1,255}$/u],
}

/**
 * Received events, newest first. Filters by state are quick for every state but `processed`; a
 * rare `type` is best looked for within `from` and `to`.
 */
export async function listReceived(
  systemDb: Queryable,
  filter: EventFilter,
  page: Page,
): Promise<{ data: ReceivedEvent[]; nextCursor: string | null }> {
  const conditions: string[] = []
  const values: unknown[] = []
  const where = (value: unknown, condition: (parameter: string) => string) => {
    if (value !== undefined) conditions.push(condition(`$${values.push(value)}`))
  }
  // The state is compared as a literal too, for the planner to see that the partial index holds it.
  where(filter.status, (p) => `status = ${p}`)
  if (filter.status !== undefined && filter.status !== 'processed') {
    conditions.push(`status <> 'processed'`)
  }
  where(filter.type, (p) => `type = ${p}`)
  where(filter.from, (p) => `received_at >= ${p}::timestamptz`)
  where(filter.to, (p) => `received_at < ${p}::timestamptz`)
  if (page.after !== null) {
    const [at, id] = page.after.map((part) => `$${values.push(part)}`)
    conditions.push(`(received_at, event_id) < (${instant(at)}, ${id})`)
  }
  const { rows } = await systemDb.query<Row>({
    text: `SELECT ${columns} FROM received_events
      ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
      ORDER BY received_at DESC, event_id DESC LIMIT ${page.limit + 1}`,
    values,
  })
  const { name } = receivedList
  return pageOf(rows, page, name, (row) => [row.received_us, row.event_id], toReceived)
}

/** One event with its raw body as text, null once that is no longer kept; null when unknown. */
export async function findReceived(
  systemDb: Queryable,
  id: string,
): Promise<(ReceivedEvent & { body: string | null }) | null> {
  const { rows } = await systemDb.query<Row & { body: Buffer | null }>({
    text: `SELECT ${columns}, body FROM received_events WHERE event_id = $1`,
    values: [id],
  })
  const [row] = rows
  return row === undefined ? null : { ...toReceived(row), body: row.body?.toString('utf8') ?? null }
}

/** Microseconds since the epoch, which a JavaScript date cannot hold, as an instant of the database. */
export function instant(parameter: string | undefined): string {
  return `('epoch'::timestamptz + ${parameter}::bigint * interval '1 microsecond')`
}

function toReceived(row: Row): ReceivedEvent {
  return {
    id: row.event_id,
    type: row.type,
    receivedAt: row.received_at.toISOString(),
    status: row.status,
    attempts: row.attempts,
    lastError: row.last_error,
    outcome: row.outcome,
    processedAt: row.processed_at?.toISOString() ?? null,
    otherBodies: row.other_bodies,
  }
}

const statuses = ['recorded', 'failed', 'dead'] as const
const most = 100_000 // counted up to here, so that a scrape stays cheap however long the queue is

/** Sets the numbers of what waits for work or for a person, counted to 100,000 of each. */
export async function measureBacklog(systemDb: Queryable, metrics: BillingMetrics): Promise<void> {
  const { rows } = await systemDb.query<{ status: string; events: number; age: number | null }>({
    text: `
      SELECT s.status,
        (SELECT count(*)::int FROM (
           SELECT FROM received_events e
           WHERE e.status = s.status AND e.status <> 'processed' LIMIT $2) AS counted) AS events,
        (SELECT extract(epoch FROM now() - min(e.received_at))::float8 FROM received_events e
         WHERE e.status = s.status AND e.status <> 'processed') AS age
      FROM unnest($1::text[]) AS s (status)`,
    values: [statuses, most],
  })
  for (const { status, events, age } of rows) {
    metrics.backlogEvents.set({ status }, events)
    if (status === 'recorded') metrics.backlogAge.set(Math.max(age ?? 0, 0))
  }
}

export const Status = Type.Enum([...eventStatuses])

/** A provider's event id in a path (contract 5): 1 to 255 printable characters. */
export const EventParams = Type.Object(
  { id: Type.String({ minLength: 1, maxLength: 255, pattern: '^[^\\p{C}\\p{Zl}\\p{Zp}]+$' }) },
  { additionalProperties: false },
)

/** Counted up to here, so that a page stays cheap however much was received. */
export const mostCounted = 10_000

/** How many events are in each state, counted to 10,000 of each. */
export async function countByStatus(
  systemDb: Queryable,
): Promise<{ status: EventStatus; events: number }[]> {
  // Processed ones are most of the table, the others have an index of their own.
  const { rows } = await systemDb.query<{ status: EventStatus; events: number }>({
    text: `
      SELECT s.status, CASE WHEN s.status = 'processed' THEN
        (SELECT count(*)::int FROM (
           SELECT FROM received_events WHERE status = 'processed' LIMIT $2) AS done)
      ELSE
        (SELECT count(*)::int FROM (
           SELECT FROM received_events e
           WHERE e.status = s.status AND e.status <> 'processed' LIMIT $2) AS few)
      END AS events
      FROM unnest($1::text[]) WITH ORDINALITY AS s (status, position) ORDER BY s.position`,
    values: [eventStatuses, mostCounted],
  })
  return rows
}
