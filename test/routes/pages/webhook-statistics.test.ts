import t from 'tap'
import { webhookVisitors } from '#test/pages/webhook-visitors.ts'
import { createEndpoint } from '#test/support/webhook-endpoint.ts'

t.test('the page of an endpoint says when its charts leave deliveries out', async (t) => {
  const { test, one, admin } = await webhookVisitors(t)
  const { admin: db } = test.database
  const { tenantId } = one
  const id = await createEndpoint(test.database, one, { url: 'https://8.8.8.8/busy' })
  await createEndpoint(test.database, one, { url: 'https://8.8.8.8/quiet' })
  /** Deliveries with one attempt each, or none. */
  const addDeliveries = async (count: number, attempts: 0 | 1) => {
    await db.query(
      `WITH numbers AS (SELECT 'msg_' || gen_random_uuid() AS event FROM generate_series(1, $3)),
       events AS (INSERT INTO outbound_events (tenant_id, id, type, body)
         SELECT $1, event, 'order.updated', '{}' FROM numbers RETURNING id),
       added AS (INSERT INTO deliveries (tenant_id, event_id, endpoint_id, event_type, status)
         SELECT $1, id, $2, 'order.updated', 'pending' FROM events RETURNING id)
       INSERT INTO delivery_attempts (tenant_id, delivery_id, series, number, started_at, duration_ms, status_code)
       SELECT $1, id, 0, 1, now(), 12, 200 FROM added WHERE $4 = 1`,
      [tenantId, id, count, attempts],
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
