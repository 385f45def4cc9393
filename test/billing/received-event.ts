import type { Test } from 'tap'
import type { ProviderApi } from '#src/billing/provider-api.ts'
import { type Database, openDatabase } from '#src/db/database.ts'
import { type IdentityPlane, openIdentityPlane } from '#src/db/identity-plane.ts'
import type { TestDatabase } from '#test/helper.ts'

export type AnEvent = {
  id: string
  type?: string
  created?: number
  object?: object
  status?: string
  /** RFC 3339; now when absent. */
  receivedAt?: string
}

/** An event as the inbox would have recorded it, without its job. */
export async function recordEvent(database: TestDatabase, event: AnEvent): Promise<void> {
  const { id, type = 'charge.succeeded', created, object = {} } = event
  const body = JSON.stringify({ id, type, created, data: { object } })
  await database.admin.query('INSERT INTO processed_events (event_id) VALUES ($1)', [id])
  await database.admin.query(
    `INSERT INTO received_events (event_id, type, body, secret_index, status, received_at)
     VALUES ($1, $2, $3, 0, $4, COALESCE($5::timestamptz, clock_timestamp()))`,
    [id, type, Buffer.from(body), event.status ?? 'recorded', event.receivedAt ?? null],
  )
}

/** The worker's two doors to the database. */
export function openAsWorker(
  t: Test,
  database: TestDatabase,
): { db: Database; plane: IdentityPlane } {
  const db = openDatabase(database.workerUrl, 5)
  const plane = openIdentityPlane(database.workerUrl, 3)
  t.teardown(async () => {
    await db.close()
    await plane.close()
  })
  return { db, plane }
}

export async function planOf(database: TestDatabase, userId: number): Promise<string | null> {
  const { rows } = await database.admin.query('SELECT plan FROM users WHERE id = $1', [userId])
  return rows[0]?.plan ?? null
}

/** An API that answers with what `states` gives for the id. */
export function anApi(states: (id: string) => ReturnType<ProviderApi['findSubscription']>) {
  return { findSubscription: states } satisfies ProviderApi
}
