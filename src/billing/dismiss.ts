import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { Problem } from '#src/http/problems.ts'
import type { EventStatus } from './events.ts'

/**
 * Dismisses a dead event that need not be processed: it is no longer counted as dead, and not
 * replayed with the dead events. Replayed by its id, it is processed, or dead again. The audit log
 * gets an entry with the event and the reason.
 * @param by the operator, with whose session the transaction was entered
 * @param reason one line for other operators
 * @throws Problem `not-found`; `conflict` if the event is not dead
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
  if (before !== 'dead') {
    const detail = `Only a dead event can be dismissed; this one is ${before}.`
    throw new Problem('conflict', { detail })
  }
  await recordAudit(
    connection,
    {
      action: 'event-dismiss',
      outcome: 'done',
      reason: 'dismissed',
      userId: by.userId,
      target: `${eventId}: ${reason}`,
    },
    clientInfo,
  )
}
