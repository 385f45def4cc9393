import t from 'tap'
import { webhookVisitors } from '#test/pages/webhooks/webhook-visitors.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

t.test('the page of an endpoint says when its charts leave deliveries out', async (t) => {
  const { test, one, admin } = await webhookVisitors(t)
  const { admin: db } = test.database
  const { tenantId } = one
  const id = await createEndpoint(test.database, one, { url: 'https://8.8.8.8/busy' })
  await createEndpoint(test.database, one, { url: 'https://8.8.8.8/quiet' })
  /** Deliveries with one attempt each, or none. */
  const addDeliveries = async (count: number, attempts: 0 | 1) => {
    const events = Array.from({ length: count }, () => `msg_${crypto.randomUUID()}`)
    await db.query(
      `INSERT INTO outbound_events (tenant_id, id, type, body)
       SELECT $1, id, 'order.updated', '{}' FROM unnest($2::text[]) AS id`,
      [tenantId, events],
    )
    const { rows } = await db.query<{ id: string }>(
      `INSERT INTO deliveries (tenant_id, event_id, endpoint_id, event_type, status)
       SELECT $1, event, $2, 'order.updated', 'pending' FROM unnest($3::text[]) AS event RETURNING id`,
      [tenantId, id, events],
    )
    await db.query(
      `INSERT INTO delivery_attempts
         (tenant_id, delivery_id, series, number, started_at, duration_ms, status_code)
       SELECT $1, id, 0, 1, now(), 12, 200 FROM unnest($2::uuid[]) AS id WHERE $3 = 1`,
      [tenantId, rows.map((row) => row.id), attempts],
    )
  }
  await addDeliveries(498, 1)
  await addDeliveries(1, 0)
  const all = (await admin.open(`/app/webhooks/${id}`)).body
  t.match(all, 'of 498 attempts')
  t.notMatch(all, 'Only the newest 500 deliveries')

  await addDeliveries(1, 1)
  const sampled = (await admin.open(`/app/webhooks/${id}`)).body
  t.match(sampled, 'Only the newest 500 deliveries', 'one that waits counts too')
  await addDeliveries(1, 1)
  t.match((await admin.open(`/app/webhooks/${id}`)).body, 'of 499 attempts')
  t.match((await admin.open('/app/webhooks')).body, 'at most the newest 500 deliveries')
})
