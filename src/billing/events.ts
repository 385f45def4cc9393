import type { Queryable } from '#src/db/system-database.ts'
import { type Page, pageOf } from '#src/http/pagination.ts'

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
  plane: Queryable,
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
  const { rows } = await plane.query<Row>({
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
  plane: Queryable,
  id: string,
): Promise<(ReceivedEvent & { body: string | null }) | null> {
  const { rows } = await plane.query<Row & { body: Buffer | null }>({
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
