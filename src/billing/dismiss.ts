import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { Problem } from '#src/http/problems.ts'
import type { EventStatus } from './events.ts'

/**
 * Dismisses a dead or unlinked event that need not be processed: it is no longer counted as dead, not
 * replayed with the dead events, and not processed when its customer is linked. Replayed by its id, it
 * is processed, or what it was before. The audit log gets an entry with the event and the reason.
 * @param by the operator, with whose session the transaction was entered
 * @param reason one line for other operators
 * @throws Problem `not-found`; `conflict` if the event is neither
 */
export async function dismissEvent(
  connection: Queryable,
  by: { userId: number },
  { eventId, reason }: { eventId: string; reason: string },
  clientInfo: ClientInfo,
): Promise<void> {
  const [row] = await connection.sql<{ before: EventStatus | null }>`
    SELECT dismiss_event(${eventId}, ${reason}) AS before`
  const before = row?.before ?? null
  if (before === null) throw new Problem('not-found')
  if (before !== 'dead' && before !== 'unlinked') {
    const detail = `Only a dead or unlinked event can be dismissed; this one is ${before}.`
    throw new Problem('conflict', { detail })
  }
  await recordDismissal(connection, by, `${eventId}: ${reason}`, clientInfo)
}

/** Bounds one form; it can be sent again. */
const mostDismissed = 1_000

/**
 * Dismisses the events that wait for the link of a customer, up to `mostDismissed`, with one entry in
 * the audit log.
 * @throws Problem `not-found` if none waits
 */
export async function dismissWaiting(
  connection: Queryable,
  by: { userId: number },
  { customer, reason }: { customer: string; reason: string },
  clientInfo: ClientInfo,
): Promise<void> {
  const waiting = await connection.sql<{ id: string }>`
    SELECT event_id AS id FROM received_events WHERE customer = ${customer} AND status = 'unlinked'
    ORDER BY received_at, event_id LIMIT ${mostDismissed} FOR UPDATE`
  const rows = await connection.sql<{ before: EventStatus | null }>`
    SELECT dismiss_event(id, ${reason}) AS before
    FROM unnest(${waiting.map(({ id }) => id)}::text[]) AS waiting (id)`
  const dismissed = rows.filter(({ before }) => before === 'unlinked').length
  if (dismissed === 0)
    throw new Problem('not-found', { detail: 'No event waits for this customer.' })
  const target = `${dismissed} of ${customer}: ${reason}`
  await recordDismissal(connection, by, target, clientInfo)
}

async function recordDismissal(
  connection: Queryable,
  { userId }: { userId: number },
  target: string,
  clientInfo: ClientInfo,
): Promise<void> {
  const entry = { action: 'event-dismiss', outcome: 'done', reason: 'dismissed' } as const
  await recordAudit(connection, { ...entry, userId, target }, clientInfo)
}
