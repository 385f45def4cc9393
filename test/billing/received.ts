import type { TestDatabase } from '#test/helper.ts'

export const charge = { customer: 'cus_1', amount: 4900, currency: 'EUR' }

/** Puts an event where the webhook route would have recorded it. */
export async function receive(
  { admin }: TestDatabase,
  event: { id: string; type: string; object?: object } | Buffer,
  id = Buffer.isBuffer(event) ? 'evt_1' : event.id,
): Promise<string> {
  const type = Buffer.isBuffer(event) ? 'charge.succeeded' : event.type
  const body = Buffer.isBuffer(event)
    ? event
    : JSON.stringify({ id, type, data: { object: event.object ?? charge } })
  await admin.query(
    `INSERT INTO received_events (event_id, type, body, secret_index, status)
     VALUES ($1, $2, convert_to($3, 'UTF8'), 0, 'recorded')`,
    [id, type, body.toString()],
  )
  return id
}

/** Invoices as the database has them, whoever's they are. */
export async function invoicesOf({ admin }: TestDatabase): Promise<object[]> {
  const { rows } = await admin.query(
    'SELECT tenant_id, amount, currency, status, source_event FROM invoices ORDER BY source_event',
  )
  return rows
}

/** What an operator sees of the event. */
export async function stateOf({ admin }: TestDatabase, eventId = 'evt_1'): Promise<object> {
  const { rows } = await admin.query(
    'SELECT status, attempts, last_error FROM received_events WHERE event_id = $1',
    [eventId],
  )
  return rows[0]
}
