import t from 'tap'
import { webhookVisitors } from '#test/pages/webhook-visitors.ts'
import { createDelivery } from '#test/support/delivery.ts'
import { createEndpoint } from '#test/support/webhook-endpoint.ts'

const url = 'https://8.8.8.8/hook'

t.test('a delivery shows each attempt, why it failed, and the request', async (t) => {
  const { test, one, admin } = await webhookVisitors(t)
  const endpointId = await createEndpoint(test.database, one, { url })
  const id = await createDelivery(test.database, { ...one, endpointId, attempts: 2 })
  await test.database.admin.query(
    `UPDATE delivery_attempts SET status_code = NULL, error = 'timed out', response_excerpt = NULL,
       cause = 'timeout: after 10.0 s, waiting', duration_ms = 10004 WHERE number = 1`,
  )
  await test.database.admin.query(
    `UPDATE delivery_attempts SET response_excerpt = '</code><script>' WHERE number = 2`,
  )
  await test.database.admin.query(
    `INSERT INTO delivery_attempts (tenant_id, delivery_id, series, number, started_at,
       duration_ms, status_code, response_excerpt) VALUES ($1, $2, 1, 1, now(), 7, 204, '')`,
    [one.tenantId, id],
  )
  await test.database.admin.query(`UPDATE outbound_events SET body = '{"a":"<script>"}'`)
  const { statusCode, body } = await admin.open(`/app/deliveries/${id}`)
  t.equal(statusCode, 200)
  t.match(body, /Scheduled attempts.*No response.*Attempt 1, 10\.0 s.*timed out after 10\.0 s/s)
  t.match(body, /Attempt 2, 12 ms.*The endpoint answered 500.*&lt;\/code&gt;&lt;script&gt;/s)
  t.match(body, /Replay 1.*>204<.*Attempt 1, 7 ms.*The response had no body/s)
  t.match(body, /POST https:\/\/8\.8\.8\.8\/hook\ncontent-type: application\/json/)
  t.match(body, /webhook-id: msg_/)
  t.match(body, '{&quot;a&quot;:&quot;&lt;script&gt;&quot;}')
  t.notMatch(body, /<script(?! src="\/assets\/)|whsec_/)
})

t.test(
  'a delivery is replayed; for a disabled endpoint the page links to enabling it',
  async (t) => {
    const { test, one, admin } = await webhookVisitors(t)
    const endpointId = await createEndpoint(test.database, one, { url })
    const id = await createDelivery(test.database, { ...one, endpointId })
    const path = `/app/deliveries/${id}`
    const sent = await admin.submit(`${path}/replay`)
    t.equal(sent.statusCode, 303)
    t.equal(sent.headers.location, `${path}?done=replayed`)
    const { body } = await admin.open(`${path}?done=replayed`)
    t.match(body, 'Replay scheduled')
    t.match(body, 'Pending')

    await test.database.admin.query(
      `UPDATE webhook_endpoints SET status = 'disabled', disabled_at = now()`,
    )
    const refused = await admin.submit(`${path}/replay`)
    t.equal(refused.statusCode, 409)
    t.match(refused.body, `<a href="/app/webhooks/${endpointId}">Enable the endpoint</a>`)
  },
)

t.test('a delivery of another tenant is a 404 for every request', async (t) => {
  const { test, other, admin, viewer } = await webhookVisitors(t)
  const endpointId = await createEndpoint(test.database, other, { url })
  const id = await createDelivery(test.database, { ...other, endpointId })
  const path = `/app/deliveries/${id}`
  t.equal((await admin.open(path)).statusCode, 404)
  t.equal((await admin.submit(`${path}/replay`)).statusCode, 404)
  t.equal((await viewer.open(path)).statusCode, 403)
  t.equal((await viewer.send(`${path}/replay`)).statusCode, 403)
  t.equal((await test.app.inject({ url: path, headers: { accept: 'text/html' } })).statusCode, 302)
  const crossSite = { 'sec-fetch-site': 'cross-site' }
  t.equal((await admin.send(`${path}/replay`, {}, crossSite)).statusCode, 403)
})
