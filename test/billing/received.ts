import type { Test } from 'tap'
import type { BillingEvent } from '#src/billing/event.ts'
import { signed } from '#src/billing/providers/signed.ts'
import { type Database, openDatabase } from '#src/db/database.ts'
import { openSystemDatabase, type SystemDatabase } from '#src/db/system-database.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'

export const charge = { customer: 'cus_1', amount: 4900, currency: 'EUR' }

export type AnEvent = {
  id: string
  type?: string
  created?: number
  object?: object
  /** Replaces the body made from the other fields. */
  body?: Buffer
  status?: string
  /** RFC 3339; the current time by default. */
  receivedAt?: string
}

/** Inserts an event as the recorder does, but without its job; resolves to its id. */
export async function receive({ admin }: TestDatabase, event: AnEvent): Promise<string> {
  const { id, type = 'charge.succeeded' } = event
  await admin.query('INSERT INTO processed_events (event_id) VALUES ($1)', [id])
  await admin.query(
    `INSERT INTO received_events (event_id, type, body, secret_index, status, received_at)
     VALUES ($1, $2, $3, 0, $4, COALESCE($5::timestamptz, clock_timestamp()))`,
    [id, type, bodyOf(event), event.status ?? 'recorded', event.receivedAt ?? null],
  )
  return id
}

/** The body of an event, as the provider sends it. */
export function bodyOf({ id, type = 'charge.succeeded', created, object = charge, body }: AnEvent) {
  return body ?? Buffer.from(JSON.stringify({ id, type, created, data: { object } }))
}

/** Parses a body in the specification's format. */
export function parsed(body: Uint8Array): BillingEvent {
  const event = signed.parse({}, body)
  if (event === null) throw new Error('no event')
  return event
}

/** The worker's two database connections. */
export function openAsWorker(
  t: Test,
  database: TestDatabase,
): { db: Database; systemDb: SystemDatabase } {
  const db = openDatabase(database.workerUrl, 5, patient)
  const systemDb = openSystemDatabase(database.workerUrl, 3, patient)
  t.teardown(async () => {
    await db.close()
    await systemDb.close()
  })
  return { db, systemDb }
}

export async function planOf({ admin }: TestDatabase, userId: number): Promise<string | null> {
  const { rows } = await admin.query('SELECT plan FROM users WHERE id = $1', [userId])
  return rows[0]?.plan ?? null
}

/** The invoices of all tenants. */
export async function invoicesOf({ admin }: TestDatabase): Promise<object[]> {
  const { rows } = await admin.query(
    'SELECT tenant_id, amount, currency, status, source_event FROM invoices ORDER BY source_event',
  )
  return rows
}

/** The columns of the event that an operator sees. */
export async function stateOf({ admin }: TestDatabase, eventId = 'evt_1'): Promise<object> {
  const { rows } = await admin.query(
    'SELECT status, attempts, last_error FROM received_events WHERE event_id = $1',
    [eventId],
  )
  return rows[0]
}
