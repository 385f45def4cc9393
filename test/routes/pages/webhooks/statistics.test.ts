import t from 'tap'
import { sampledOfPart } from '#src/webhooks/history/stats.ts'
import { webhookVisitors } from '#test/pages/webhooks/webhook-visitors.ts'
import { build } from '#test/support/app/app.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const shared = await build(t)

const hourMs = 3_600_000
const dayMs = 24 * hourMs

async function withEndpoint() {
  const { test, one, admin } = await webhookVisitors(shared)
  const { admin: db } = test.database
  const { tenantId } = one
  const id = await createEndpoint(test.database, one, { url: 'https://8.8.8.8/busy' })
  await createEndpoint(test.database, one, { url: 'https://8.8.8.8/quiet' })
  /** Deliveries with one attempt each, or none. */
  const addDeliveries = async (count: number, attempts: 0 | 1, agoMs = 0) => {
    const events = Array.from({ length: count }, () => `msg_${crypto.randomUUID()}`)
    const at = new Date(Date.now() - agoMs)
    await db.query(
      `INSERT INTO outbound_events (tenant_id, id, type, body)
       SELECT $1, id, 'order.updated', '{}' FROM unnest($2::text[]) AS id`,
      [tenantId, events],
    )
    const { rows } = await db.query<{ id: string }>(
      `INSERT INTO deliveries (tenant_id, event_id, endpoint_id, event_type, status, created_at)
       SELECT $1, event, $2, 'order.updated', 'pending', $4 FROM unnest($3::text[]) AS event
       RETURNING id`,
      [tenantId, id, events, at],
    )
    await db.query(
      `INSERT INTO delivery_attempts
         (tenant_id, delivery_id, series, number, started_at, duration_ms, status_code)
       SELECT $1, id, 0, 1, $4, 12, 200 FROM unnest($2::uuid[]) AS id WHERE $3 = 1`,
      [tenantId, rows.map((row) => row.id), attempts, at],
    )
  }
  const open = async (period: 'day' | 'week' | 'month') =>
    (await admin.open(`/app/webhooks/${id}?period=${period}`)).body
  return { admin, addDeliveries, open, path: `/app/webhooks/${id}` }
}

const isSample = /Of each \w+ only the newest 100 deliveries are counted/

t.test('the page of an endpoint says when its charts are of a sample', async (t) => {
  const { admin, addDeliveries, open } = await withEndpoint()
  t.match(await open('day'), 'No attempts')
  await addDeliveries(sampledOfPart - 2, 1)
  await addDeliveries(1, 0)
  const all = await open('day')
  t.match(all, `of ${sampledOfPart - 2} attempts`)
  t.notMatch(all, isSample)

  await addDeliveries(1, 1)
  t.match(await open('day'), isSample, 'one that waits counts too')
  await addDeliveries(sampledOfPart, 1, 2 * hourMs)
  const sampled = await open('day')
  t.match(sampled, `of ${2 * sampledOfPart - 1} attempts`, 'a busy hour hides no other')
  await addDeliveries(1, 1, 2 * hourMs)
  t.match(await open('day'), `of ${2 * sampledOfPart - 1} attempts`)
  t.match((await admin.open('/app/webhooks')).body, 'at most the newest 500 deliveries')
})

t.test('charts of 24 hours, 7 and 30 days show the attempts of their time', async (t) => {
  const { admin, addDeliveries, open, path } = await withEndpoint()
  await addDeliveries(1, 1)
  await addDeliveries(2, 1, 2 * dayMs)
  await addDeliveries(4, 1, 20 * dayMs)
  await addDeliveries(8, 1, 40 * dayMs)
  const day = await open('day')
  t.match(day, 'of 1 attempt<')
  t.match(day, 'Attempts by hour')
  t.match(day, `<a href="${path}" aria-current="true">24 hours</a>`)
  t.match(day, `<a href="${path}?period=month">30 days</a>`)
  t.match((await admin.open(path)).body, `aria-current="true">24 hours</a>`)
  const week = await open('week')
  t.match(week, 'of 3 attempts')
  t.match(week, 'Attempts by 6 hours')
  t.match(week, `<a href="${path}?period=week" aria-current="true">7 days</a>`)
  const month = await open('month')
  t.match(month, 'of 7 attempts')
  t.match(month, 'Attempts by day')
  t.match(month, /data-label="Succeeded">4<\/td>/)
  t.equal((await admin.open(`${path}?period=year`)).statusCode, 400)
})
