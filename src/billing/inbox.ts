import type { PgBoss } from 'pg-boss'
import type { IdentityPlane, Queryable } from '#src/db/identity-plane.ts'
import { type BillingEvent, kindOf } from './event.ts'

// Contract 5: 2 s. With 800 ms to get a connection there is room for three statements of this.
const statementTimeoutMs = 350

export type Recorded = 'first' | 'ignored' | 'duplicate'

/**
 * Records a verified event and enqueues its work, all in one commit: when this resolves, the
 * event exists once and so does its job (specification, inbound processing 3 to 5).
 * @param body the bytes as received; they are kept for the worker
 * @throws when it could not be recorded; then nothing was
 */
export async function recordEvent(
  plane: IdentityPlane,
  queue: PgBoss,
  event: BillingEvent,
  body: Buffer,
  secretIndex: number,
): Promise<Recorded> {
  const handled = kindOf(event.type) !== null
  return plane.transaction({ statementTimeoutMs }, async (connection) => {
    const first = await insertEvent(connection, [
      event.id,
      event.type,
      body,
      secretIndex,
      handled ? 'recorded' : 'ignored',
    ])
    if (!first) return 'duplicate'
    if (!handled) return 'ignored'
    await queue.send(
      'billing-event',
      { eventId: event.id },
      { db: { executeSql: (text, values) => connection.query({ text, values: values ?? [] }) } },
    )
    return 'first'
  })
}

/** @returns false when the id was known; then nothing was written */
async function insertEvent(connection: Queryable, values: unknown[]): Promise<boolean> {
  const { rowCount } = await connection.query({
    name: 'record-event',
    text: `
      WITH fresh AS (
        INSERT INTO processed_events (event_id) VALUES ($1)
        ON CONFLICT DO NOTHING RETURNING event_id
      )
      INSERT INTO received_events (event_id, type, body, secret_index, status)
      SELECT event_id, $2, $3, $4::smallint, $5 FROM fresh`,
    values,
  })
  return rowCount === 1
}
