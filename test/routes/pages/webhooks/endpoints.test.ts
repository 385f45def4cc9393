import t from 'tap'
import { maxEndpoints } from '#src/webhooks/endpoints/endpoints.ts'
import { webhookVisitors } from '#test/pages/webhooks/webhook-visitors.ts'
import { build } from '#test/support/app/app.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const shared = await build(t)

const url = 'https://8.8.8.8/hook'
const fields = { url, description: '', signature: 'spec' }

t.test('an admin sees the endpoints of their own tenant only, with their health', async (t) => {
  const { test, one, other, admin } = await webhookVisitors(shared)
  const { tenantId } = one
  const endpointId = await createEndpoint(test.database, one, { url, status: 'failing' })
  await createEndpoint(test.database, other, { url: 'https://8.8.4.4/theirs' })
  await createDelivery(test.database, { tenantId, endpointId, attempts: 3 })
  await createDelivery(test.database, { tenantId, endpointId, eventType: 'endpoint.test' })
  await test.database.admin.query('UPDATE delivery_attempts SET status_code = 200 WHERE number = 1')
  await test.database.admin.query(
    `INSERT INTO notifications (tenant_id, kind, endpoint_id, message)
     VALUES ($1, 'endpoint.failing', $2, 'It fails <b>')`,
    [tenantId, endpointId],
  )
  const { statusCode, body, headers } = await admin.open('/app/webhooks')
  t.equal(statusCode, 200)
  t.equal(headers['cache-control'], 'no-store')
  t.match(body, `<a href="/app/webhooks/${endpointId}"><bdi>${url}</bdi></a>`)
  t.match(body, 'Failing')
  t.match(body, /<strong class="whole">33\.3 %<\/strong> <span class="quiet whole">of 3 attempts/)
  t.match(body, /<title>Last hour: 3 attempts, 2 failed<\/title>.*median 12 ms/s)
  t.match(body, 'It fails &lt;b&gt;')
  t.notMatch(body, /8\.8\.4\.4|<script(?! src="\/assets\/)/)
  t.match((await admin.open('/')).body, /<a href="\/app\/webhooks"><svg.*<\/svg>Webhooks<\/a>/)
})

t.test('a failed attempt shows at once, with its reason on the page of the endpoint', async (t) => {
  const { test, one, admin } = await webhookVisitors(shared)
  const endpointId = await createEndpoint(test.database, one, { url })
  const pages = ['/app/webhooks', `/app/webhooks/${endpointId}`]
  for (const path of pages) t.match((await admin.open(path)).body, 'badge good">Healthy')
  await test.database.admin.query(
    'UPDATE endpoint_states SET retrying_since = now(), failure_status = 404',
  )
  for (const path of pages) {
    const { body } = await admin.open(path)
    t.match(body, 'badge warning">Retrying</span> <span class="quiet whole">began <time', path)
    t.notMatch(body, 'badge good', path)
  }
  t.match((await admin.open(`/app/webhooks/${endpointId}`)).body, 'The endpoint answered 404.')
})

t.test('the text about retries follows the settings', async (t) => {
  const texts: [string, RegExp][] = [
    ['0,5,30', /within 2\.5 seconds; otherwise we retry up to 2 times\./],
    ['0,5', /within 2\.5 seconds; otherwise we retry once\./],
    ['0', /within 2\.5 seconds\. There are no retries\./],
  ]
  for (const [OUTBOUND_RETRY_SECONDS, text] of texts) {
    const settings = { OUTBOUND_TIMEOUT_MS: '2500', OUTBOUND_RETRY_SECONDS }
    const { admin } = await webhookVisitors(await build(t, settings))
    t.match((await admin.open('/app/webhooks/new')).body, text)
  }
})

t.test('an endpoint without attempts in 24 hours has no success rate', async (t) => {
  const { test, one, admin } = await webhookVisitors(shared)
  const endpointId = await createEndpoint(test.database, one, { url })
  const createdAt = new Date(Date.now() - 86_460_000).toISOString()
  await createDelivery(test.database, { ...one, endpointId, createdAt })
  const { body } = await admin.open('/app/webhooks')
  t.match(body, 'No attempts')
  t.notMatch(body, 'class="strip"')
})

t.test('an endpoint is added; its secret is shown once, on the page it redirects to', async (t) => {
  const { test, admin } = await webhookVisitors(await build(t))
  const made = await admin.send('/app/webhooks/new', [
    ['url', url],
    ['description', '<script>alert(1)</script>'],
    ['eventTypes', 'order.updated'],
    ['eventTypes', 'post.deleted'],
    ['signature', 'both'],
    ['perSecond', '5'],
    ['burst', ''],
    ['payload', 'thin'],
    ['submission', crypto.randomUUID()],
  ])
  t.equal(made.statusCode, 303)
  t.notMatch(made.payload + made.headers.location, 'whsec_')
  const page = await admin.open(String(made.headers.location))
  t.equal(page.headers['cache-control'], 'no-store')
  t.match(page.body, /<code id="new-secret-text">whsec_[\w+/]{43}=<\/code>/)
  t.match(page.body, '&lt;script&gt;alert(1)&lt;/script&gt;')
  t.notMatch(page.body, '<script>')
  const { rows } = await test.database.admin.query(
    'SELECT id, event_types, signature, rate_per_second, rate_burst, thin FROM webhook_endpoints',
  )
  t.match(rows, [{ event_types: ['order.updated', 'post.deleted'], signature: 'both' }])
  t.match(rows, [{ rate_per_second: 5, rate_burst: 1, thin: true }])
  for (const page of ['/app/webhooks', `/app/webhooks/${rows[0].id}`]) {
    const { body } = await admin.open(page)
    t.match(body, url)
    t.notMatch(body, /whsec_|<script(?! src="\/assets\/)/, page)
  }
  await admin.submit('/app/webhooks/new', { ...fields, url: `${url}/all` })
  const { rows: all } = await test.database.admin.query(
    'SELECT FROM webhook_endpoints WHERE all_event_types AND description IS NULL',
  )
  t.equal(all.length, 1, 'no selected type means every type')
})

t.test('a refused URL is shown in the form with the other values and the reason', async (t) => {
  const { test, admin } = await webhookVisitors(await build(t))
  for (const bad of [
    'http://8.8.8.8/',
    'https://10.0.0.1/"><i>',
    'no url',
    '',
    'x'.repeat(3_000),
  ]) {
    const typed = { url: bad, description: 'My <b>', eventTypes: 'post.deleted', signature: 'both' }
    const { statusCode, body } = await admin.submit('/app/webhooks/new', typed)
    t.equal(statusCode, 400, bad.slice(0, 30))
    t.match(body, /The URL must (start with https|be an absolute URL|have )/)
    t.match(body, 'aria-describedby="fault-url"')
    t.match(body, 'value="My &lt;b&gt;"')
    t.match(body, 'value="post.deleted" checked')
    t.match(body, '<option value="both" selected>')
    t.notMatch(body, '<i>')
  }
  t.equal((await test.database.admin.query('SELECT FROM webhook_endpoints')).rowCount, 0)
})

t.test('a URL that another endpoint has is refused beside the form', async (t) => {
  const { test, one, admin } = await webhookVisitors(shared)
  const id = await createEndpoint(test.database, one, { url: `${url}/other` })
  t.equal((await admin.submit('/app/webhooks/new', fields)).statusCode, 303)
  const again = await admin.submit('/app/webhooks/new', fields)
  const changed = await admin.send(`/app/webhooks/${id}/settings`, fields)
  for (const { statusCode, body } of [again, changed]) {
    t.equal(statusCode, 409)
    t.match(body, 'Another endpoint of the tenant has this URL.')
  }
})

t.test('at the limit the page shows the form with an error', async (t) => {
  const { test, one, admin } = await webhookVisitors(shared)
  for (let made = 0; made < maxEndpoints; made += 1)
    await createEndpoint(test.database, one, { url })
  const { statusCode, body } = await admin.submit('/app/webhooks/new', fields)
  t.equal(statusCode, 409)
  t.match(body, `at most ${maxEndpoints} endpoints`)
})

t.test('a member without the permission is refused, and so is a cross-site form', async (t) => {
  const { test, admin, viewer } = await webhookVisitors(await build(t))
  t.equal((await viewer.open('/app/webhooks')).statusCode, 403)
  t.equal((await viewer.open('/app/webhooks/new')).statusCode, 403)
  t.equal((await viewer.send('/app/webhooks/new', fields)).statusCode, 403)
  t.notMatch((await viewer.open('/')).body, '/app/webhooks')
  const anyone = { url: '/app/webhooks', headers: { accept: 'text/html' } }
  t.equal((await test.app.inject(anyone)).statusCode, 302)
  const crossSite = { 'sec-fetch-site': 'cross-site' }
  t.equal((await admin.send('/app/webhooks/new', fields, crossSite)).statusCode, 403)
  for (const bad of [
    { signature: 'none' },
    { eventTypes: 'x' },
    { description: 'a\nb' },
    { a: '' },
  ])
    t.equal((await admin.submit('/app/webhooks/new', { ...fields, ...bad })).statusCode, 400)
  t.equal((await admin.send('/app/webhooks/new', fields)).statusCode, 400, 'without its random id')
  t.equal((await test.database.admin.query('SELECT FROM webhook_endpoints')).rowCount, 0)
})

t.test('each of the last days is accounted for, of the own tenant alone', async (t) => {
  const { test, one, other, admin } = await webhookVisitors(shared)
  t.notMatch((await admin.open('/app/webhooks')).body, 'ccounted for')
  const own = { ...one, endpointId: await createEndpoint(test.database, one, { url }) }
  const theirs = { ...other, endpointId: await createEndpoint(test.database, other, { url }) }
  const createdAt = daysAgo(1)
  await createDelivery(test.database, { ...own, status: 'succeeded', createdAt })
  await createDelivery(test.database, { ...own, status: 'exhausted', createdAt })
  await createDelivery(test.database, { ...own, status: 'succeeded', createdAt: daysAgo(8) })
  await createDelivery(test.database, { ...theirs, status: 'pending' })
  const day = createdAt.slice(0, 10)
  const cells = (...counts: number[]) =>
    new RegExp(`${day}</span></td>${counts.map((count) => `\\s*<td[^>]*>${count}</td>`).join('')}`)
  const { body } = await admin.open('/app/webhooks')
  t.notMatch(body, 'Not accounted for')
  t.match(body, cells(2, 1, 1, 0))
  // Its job does not exist, so nobody would make its next attempt.
  await createDelivery(test.database, { ...own, status: 'pending', createdAt })
  const found = (await admin.open('/app/webhooks')).body
  t.match(found, '>Not accounted for</th>')
  t.match(found, /<strong class="fault">1<\/strong>/)
  t.equal(
    found.match(/<span class="whole">\d{4}-/g)?.length,
    1,
    'older days and tenants are left out',
  )
})

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
