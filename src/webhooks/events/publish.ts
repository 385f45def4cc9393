import type { Static, TSchema } from 'typebox'
import type { TenantScope } from '#src/access/caller.ts'
import { randomToken } from '#src/crypto/hash.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { attemptsOf, scheduleAttempts, wakeWorkers } from '#src/webhooks/schedule/due-attempts.ts'
import type { EventKind, EventType } from './types.ts'

export type NewEvent<Data extends TSchema = TSchema> = {
  kind: EventKind<EventType, Data>
  /** What the schema of the kind describes. */
  data: Static<NoInfer<Data>>
  /** Send it only to this endpoint, whichever types it has chosen. */
  endpointId?: string
}

/**
 * Publishes an event in the transaction of the change it reports: one statement, which leaves with its
 * COMMIT, inserts the event, and a delivery with its first attempt for every endpoint of the tenant that
 * has chosen its type. A disabled endpoint gets a delivery without an attempt, which can be replayed.
 * @param now also the event's `createdAt`
 */
export async function publish<Data extends TSchema>(
  tx: Tx,
  scope: TenantScope,
  event: NewEvent<Data>,
  now: Date,
): Promise<{ eventId: string }> {
  const { eventId, sql } = await insertEvent(scope, event, now)
  tx.runWithCommit(sql, (deliveries) => {
    if (deliveries.length > 0) wakeWorkers(tx, scope)
  })
  return { eventId }
}

/** The statement that inserts an event with its deliveries. */
export async function insertEvent<Data extends TSchema>(
  { tenantId }: TenantScope,
  { kind, data, endpointId }: NewEvent<Data>,
  now: Date,
): Promise<{ eventId: string; sql: Prisma.Sql }> {
  const { type } = kind
  const { id: eventId, body } = composeEvent(type, data, now)
  const call = Prisma.sql`
    publish_event(${tenantId}::uuid, ${eventId}, ${type}, ${body}, ${now}, ${endpointId ?? null}::uuid)`
  return { eventId, sql: scheduleAttempts({ tenantId }, call) }
}

/**
 * The statement that changes a row and publishes the event about it. It returns the rows of the change, each with
 * `is_due`: whether a delivery waits. No field of a resource can have that name.
 * @param change INSERT, UPDATE or DELETE of one row, with RETURNING
 * @param data the object as a text of JSON, an expression over the row `changed`
 */
export async function changeAndPublish(
  { tenantId }: TenantScope,
  event: { type: EventType; change: Prisma.Sql; data: Prisma.Sql },
  now: Date,
): Promise<Prisma.Sql> {
  const { id, body } = composeEvent(event.type, null, now)
  const [before, after] = [body.slice(0, -'null}'.length), '}']
  const published = Prisma.sql`
    SELECT published.* FROM changed CROSS JOIN LATERAL publish_event(${tenantId}::uuid, ${id},
      ${event.type}, concat(${before}::text, ${event.data}, ${after}::text), ${now}, NULL::uuid) AS published`
  return Prisma.sql`
    WITH changed AS (${event.change}), ${attemptsOf({ tenantId }, published)}
    SELECT changed.*, EXISTS (SELECT FROM due) AS is_due FROM changed`
}

/** The values of `cause` and `traceparent`, which the entry of the transaction has set. */
export const currentCause = Prisma.sql`
  NULLIF(current_setting('app.cause', true), ''),
  NULLIF(current_setting('app.traceparent', true), '')`

/** A new event, byte for byte as it is stored and sent. The body contains the id (contract 7). */
export function composeEvent(
  type: string,
  data: unknown,
  createdAt: Date,
  id = `msg_${randomToken()}`,
): { id: string; body: string } {
  return { id, body: JSON.stringify({ id, type, createdAt: createdAt.toISOString(), data }) }
}
