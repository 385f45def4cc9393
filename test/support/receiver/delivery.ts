import type { TestDatabase } from '#test/support/database/database.ts'
import { createEndpoint } from './webhook-endpoint.ts'

type Delivery = {
  tenantId: string
  endpointId: string
  eventType?: string
  status?: 'pending' | 'succeeded' | 'exhausted'
  createdAt?: string
  attempts?: number
}

/** Inserts an event and a delivery after `attempts` attempts; resolves to its id. */
export async function createDelivery(
  { admin }: TestDatabase,
  { tenantId, endpointId, ...delivery }: Delivery,
): Promise<string> {
  const { eventType = 'order.updated', status = 'exhausted', attempts = 5 } = delivery
  const createdAt = delivery.createdAt ?? new Date().toISOString()
  const eventId = `msg_${crypto.randomUUID()}`
  const body = JSON.stringify({ id: eventId, type: eventType, createdAt, data: { id: 1 } })
  await admin.query(
    'INSERT INTO outbound_events (tenant_id, id, type, body, created_at) VALUES ($1, $2, $3, $4, $5)',
    [tenantId, eventId, eventType, body, createdAt],
  )
  const { rows } = await admin.query<{ id: string }>(
    `INSERT INTO deliveries (tenant_id, event_id, endpoint_id, event_type, status, attempts,
       created_at, finished_at, stored_attempts, stored_bytes, http_status, unusual_status, unusual_class)
     VALUES ($1, $2, $3, $4, $5, $6, $7, CASE WHEN $5 <> 'pending' THEN now() END, $6,
       12 * $6::int, CASE WHEN $6 > 0 THEN 500 END, CASE WHEN $6 > 0 THEN 500 END, CASE WHEN $6 > 0 THEN 5 END) RETURNING id`,
    [tenantId, eventId, endpointId, eventType, status, attempts, createdAt],
  )
  const id = String(rows[0]?.id)
  for (let number = 1; number <= attempts; number += 1) {
    await admin.query(
      `INSERT INTO delivery_attempts (tenant_id, delivery_id, series, number, started_at,
         duration_ms, status_code, error, cause, response_excerpt)
       VALUES ($1, $2, 0, $3, $4, 12, 500, NULL, NULL, 'told to fail')`,
      [tenantId, id, number, createdAt],
    )
  }
  return id
}

/** An endpoint of the tenant with one exhausted delivery. */
export async function exhaustedDelivery(
  database: TestDatabase,
  tenant: { tenantId: string },
  { status = 'active' as 'active' | 'failing' | 'disabled' } = {},
): Promise<{ endpointId: string; id: string }> {
  const endpointId = await createEndpoint(database, tenant, { url: 'https://8.8.8.8/', status })
  const id = await createDelivery(database, { ...tenant, endpointId })
  return { endpointId, id }
}

/** The due attempts, as series and number. */
export async function waitingAttempts({ admin }: TestDatabase) {
  const { rows } = await admin.query<{ id: string; series: number; number: number }>(
    'SELECT delivery_id AS id, series, number FROM due_attempts',
  )
  return rows
}

/** Ids of the deliveries whose counters of stored attempts differ from their attempts. */
export async function miscountedDeliveries({ admin }: TestDatabase): Promise<string[]> {
  const { rows } = await admin.query<{ id: string }>(
    `SELECT d.id FROM deliveries d CROSS JOIN LATERAL (
       SELECT count(*) AS attempts,
         coalesce(sum(octet_length(concat(error, cause, response_excerpt))), 0) AS bytes
       FROM delivery_attempts a WHERE a.tenant_id = d.tenant_id AND a.delivery_id = d.id) made
     WHERE (stored_attempts, stored_bytes) IS DISTINCT FROM (made.attempts, made.bytes)`,
  )
  return rows.map(({ id }) => id)
}
