import t from 'tap'
import { unsealDraft } from '#src/http/form-draft.ts'
import { newEndpointSecret, signDelivery } from '#src/webhooks/signing/signature.ts'
import { webhookVisitors } from '#test/pages/webhooks/webhook-visitors.ts'
import { build } from '#test/support/app/app.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const shared = await build(t)

const url = 'https://8.8.8.8/hook'

t.test('a delivery shows each attempt, why it failed, and the request', async (t) => {
  const { test, one, admin } = await webhookVisitors(shared)
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
    const { test, one, admin } = await webhookVisitors(shared)
    const endpointId = await createEndpoint(test.database, one, { url })
    const id = await createDelivery(test.database, { ...one, endpointId })
    const path = `/app/deliveries/${id}`
    const sent = await admin.submit(`${path}/replay`)
    t.equal(sent.statusCode, 303)
    t.equal(sent.headers.location, `${path}?done=replayed`)
    const { body } = await admin.open(`${path}?done=replayed`)
    t.match(body, 'Replay scheduled')
    t.match(body, 'Waiting')

    await test.database.admin.query(
      `UPDATE endpoint_states SET status = 'disabled', disabled_at = now()`,
    )
    const refused = await admin.submit(`${path}/replay`)
    t.equal(refused.statusCode, 409)
    t.match(refused.body, `<a href="/app/webhooks/${endpointId}">Enable or resume the endpoint</a>`)
  },
)

t.test('a delivery of another tenant is a 404 for every request', async (t) => {
  const { test, other, admin, viewer } = await webhookVisitors(shared)
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

t.test('the signature checker names the fault, and forgets the secret', async (t) => {
  const { test, one, other, admin, viewer, stranger } = await webhookVisitors(await build(t))
  const endpointId = await createEndpoint(test.database, one, { url })
  const id = await createDelivery(test.database, { ...one, endpointId })
  const path = `/app/deliveries/${id}/check`
  const [secret, timestamp] = [newEndpointSecret(), String(Math.floor(Date.now() / 1_000))]
  const { rows } = await test.database.admin.query('SELECT id, body FROM outbound_events')
  const [event] = rows
  const signature = signDelivery({
    profile: 'spec',
    secrets: [secret],
    id: event.id,
    timestamp: Number(timestamp),
    body: event.body,
  })
  const headers = `webhook-id: ${event.id}\r\nwebhook-timestamp: ${timestamp}\r\nwebhook-signature: ${signature}`
  const fields = { headers, body: event.body, secret }
  const correct = await admin.send(path, fields)
  t.equal(correct.statusCode, 200)
  t.match(correct.body, 'The signature is correct')
  t.notMatch(correct.body, secret)
  const changed = await admin.send(path, { ...fields, body: `${event.body}<b>` })
  t.match(changed.body, 'The body differs from what was sent')
  t.match(changed.body, '&lt;b&gt;</textarea>', 'what was pasted stays, as text')
  const own = await admin.send(path, { ...fields, secret: '' })
  t.match(own.body, 'No secret of this endpoint has made this signature')
  const none = await admin.send(path, { ...fields, headers: 'x: y' })
  t.match(none.body, '<code>webhook-signature</code> are missing')

  const wrong = [{ secret: 'x'.repeat(257) }, { body: 'a\u0000' }, { headers: 'a\u0000' }]
  for (const change of wrong) {
    t.equal((await admin.send(path, { ...fields, ...change })).statusCode, 400)
  }
  t.equal((await viewer.send(path, fields)).statusCode, 403)
  t.equal((await stranger.send(path, fields)).statusCode, 404)
  t.ok(other.tenantId !== one.tenantId)

  const origin = { 'sec-fetch-site': 'same-origin', cookie: '' }
  const signedOut = await admin.send(path, { sender: String(one.userId), ...fields }, origin)
  const draft = signedOut.cookies.find(({ name }) => name === 'draft')
  const kept = unsealDraft(test.config.encryptionKeys, draft?.value ?? '', Date.now() / 1_000)
  t.same(
    kept?.fields.map(([name]) => name),
    ['headers', 'body'],
    'the draft has no secret',
  )
  t.notMatch(test.log.join(''), secret)
  const stored = await test.database.admin.query('SELECT FROM idempotency_keys')
  t.equal(stored.rowCount, 0)
})

t.test('the timeline shows what was done, now, and what follows', async (t) => {
  const { test, one, admin } = await webhookVisitors(await build(t))
  const endpointId = await createEndpoint(test.database, one, { url })
  const delivery = { ...one, endpointId, status: 'pending', attempts: 2 } as const
  const id = await createDelivery(test.database, delivery)
  await test.database.admin.query(`UPDATE deliveries SET next_attempt_at = '2026-03-01T10:00:00Z'`)
  const { body } = await admin.open(`/app/deliveries/${id}`)
  t.match(body, 'aria-label="2 made, 3 to follow if they fail"')
  t.match(body, '<time datetime="2026-03-01T10:00:00.000Z" data-countdown>')
  t.match(body, /Attempt 2, [^>]*>.*<li class="now">now<\/li>.*Attempt 3, /s, 'between the two')
  t.match(body, 'Attempt 4, 2026-03-01 10:05:00 UTC: to follow')
  t.match(body, 'Attempt 5, 2026-03-01 11:05:00 UTC: to follow')
  const done = await createDelivery(test.database, { ...one, endpointId, attempts: 5 })
  const finished = (await admin.open(`/app/deliveries/${done}`)).body
  t.match(finished, 'aria-label="5 made, 0 to follow if they fail"')
  t.notMatch(finished, /data-countdown|>now</)
})
