import { randomToken } from '#src/crypto/hash.ts'
import type { EventType } from '#src/webhooks/events/types.ts'

/** A new event as it is kept and sent, byte for byte; the id is repeated in the body (contract 7). */
export function composeEvent(
  type: EventType,
  data: object,
  createdAt: Date,
): { id: string; body: string } {
  const id = `msg_${randomToken()}`
  return { id, body: JSON.stringify({ id, type, createdAt: createdAt.toISOString(), data }) }
}
