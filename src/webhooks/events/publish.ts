import type { Static, TSchema } from 'typebox'
import type { TenantScope } from '#src/access/caller.ts'
import { randomToken } from '#src/crypto/hash.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { scheduleAttempts, wakeWorkers } from '#src/webhooks/delivery/due-attempts.ts'
import type { EventKind, EventType } from './types.ts'

export type NewEvent<Data extends TSchema = TSchema> = {
  kind: EventKind<EventType, Data>
  /** What the schema of the kind describes. */
  data: Static<NoInfer<Data>>
  /** Send it only to this endpoint, whichever types it has chosen. */
  endpointId?: string
}

export type Published = { eventId: string; deliveryIds: readonly string[] }

/**
 * Publishes an event in the transaction of the change it reports: one statement inserts the event, and
 * a delivery with its first attempt for every endpoint of the tenant that has chosen its type. A
 * disabled endpoint gets a delivery without an attempt, which can be replayed.
 * @param now also the event's `createdAt`
 */
export async function publish<Data extends TSchema>(
  tx: Tx,
  { tenantId }: TenantScope,
  { kind, data, endpointId }: NewEvent<Data>,
  now: Date,
): Promise<Published> {
  const { type } = kind
  const { id: eventId, body } = composeEvent(type, data, now)
  const chosen =
    endpointId === undefined
      ? Prisma.sql`(all_event_types OR ${type} = ANY (event_types))`
      : Prisma.sql`id = ${endpointId}::uuid`
  const rows = await tx.$queryRaw<{ id: string }[]>`
    WITH event AS (
      INSERT INTO outbound_events (tenant_id, id, type, body, created_at, cause, traceparent)
      VALUES (${tenantId}::uuid, ${eventId}, ${type}, ${body}, ${now}, ${currentCause})
      RETURNING tenant_id, id, type, created_at
    ), endpoint AS (
      -- Takes the lock of the foreign key early, so that an endpoint being deleted is left out.
      SELECT id, status, in_turn FROM webhook_endpoints
      WHERE tenant_id = ${tenantId}::uuid AND ${chosen} FOR KEY SHARE
    ), delivery AS (
      INSERT INTO deliveries (tenant_id, event_id, endpoint_id, event_type, status, created_at,
                              held_for, next_attempt_at, finished_at)
      SELECT event.tenant_id, event.id, endpoint.id, event.type,
        CASE endpoint.status WHEN 'disabled' THEN 'exhausted' ELSE 'pending' END, event.created_at,
        CASE endpoint.status WHEN 'disabled' THEN 'recovery' END,
        -- Also by the clock of the database, in case this process is ahead of the worker.
        CASE WHEN endpoint.status <> 'disabled' THEN least(event.created_at, now()) END,
        CASE WHEN endpoint.status = 'disabled' THEN event.created_at END
      FROM event CROSS JOIN endpoint
      RETURNING tenant_id, id, endpoint_id, status, next_attempt_at
    ), ${await scheduleAttempts(firstAttempts, { isNew: true })}
    SELECT id FROM delivery`
  if (rows.length > 0) wakeWorkers(tx, { tenantId })
  return { eventId, deliveryIds: rows.map(({ id }) => id) }
}

/** The values of `cause` and `traceparent`, which the entry of the transaction has set. */
export const currentCause = Prisma.sql`
  NULLIF(current_setting('app.cause', true), ''),
  NULLIF(current_setting('app.traceparent', true), '')`

/** A failing endpoint has its turn after the others. */
const firstAttempts = Prisma.sql`
  SELECT delivery.tenant_id, delivery.id AS delivery_id, 0 AS series, 1 AS number,
    delivery.endpoint_id, delivery.next_attempt_at AS due_at, 0 AS wait_seconds,
    CASE endpoint.status WHEN 'failing' THEN -1 ELSE 0 END AS priority, endpoint.in_turn
  FROM delivery JOIN endpoint ON endpoint.id = delivery.endpoint_id
  WHERE delivery.status = 'pending'`

/** A new event, byte for byte as it is stored and sent. The body contains the id (contract 7). */
export function composeEvent(
  type: EventType,
  data: unknown,
  createdAt: Date,
): { id: string; body: string } {
  const id = `msg_${randomToken()}`
  return { id, body: JSON.stringify({ id, type, createdAt: createdAt.toISOString(), data }) }
}
