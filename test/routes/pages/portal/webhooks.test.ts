import t, { type Test } from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { portalOwner } from '#test/support/callers/portal.ts'
import { createReplayOf } from '#test/support/callers/webhook-admin.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

const url = 'https://8.8.8.8/hook'
const fields = { url, description: '', signature: 'spec' }
const submission = () => ({ submission: crypto.randomUUID() })

/** Somebody in the portal of a tenant with an endpoint, a delivery and an event. */
async function setUp(t: Test) {
  const test = await build(t)
  const owner = await portalOwner(test)
  const visitor = await owner.enter()
  const { tenantId } = owner.user
  const endpointId = await createEndpoint(test.database, { tenantId }, { url })
  const deliveryId = await createDelivery(test.database, {
    ...{ tenantId, endpointId, eventType: 'post.updated', attempts: 1 },
  })
  const replayId = await createReplayOf(test.database, owner.user, endpointId)
  const { rows } = await test.database.admin.query('SELECT id FROM outbound_events')
  const eventId: string = rows[0]?.id
  const pages = [
    '/portal/webhooks',
    '/portal/webhooks/new',
    `/portal/webhooks/${endpointId}`,
    `/portal/webhooks/${endpointId}/deliveries`,
    `/portal/webhooks/${endpointId}/settings`,
    `/portal/webhooks/${endpointId}/probe`,
    `/portal/webhooks/${endpointId}/replays/new?range=week`,
    `/portal/webhooks/${endpointId}/replays/${replayId}`,
    `/portal/deliveries/${deliveryId}`,
    '/portal/events',
    `/portal/events/${eventId}`,
    '/portal/event-types',
    '/portal/event-types/order.updated',
  ]
  return { test, ...owner, visitor, endpointId, deliveryId, pages }
}

t.test('every page leads to pages of the portal alone, and every form has its token', async (t) => {
  const { visitor, pages } = await setUp(t)
  const token = /<input type="hidden" name="token" value="[\w-]{43}">/
  for (const path of pages) {
    const { statusCode, body } = await visitor.open(path)
    t.equal(statusCode, 200, path)
    const targets = [...body.matchAll(/ (?:href|action|data-live|data-follow)="(\/[^"]*)"/g)]
    for (const [, target = ''] of targets) t.match(target, /^\/(portal|assets)\//, path)
    t.notMatch(body, /Sign out|\/auth\//)
    const forms = [...body.matchAll(/<form [^>]*method="post"[^>]*>.*?<\/form>/gs)]
    for (const [form] of forms) t.match(form, token, path)
    const marked = `${path}${path.includes('?') ? '&' : '?'}utm_source=newsletter`
    t.equal((await visitor.open(marked)).statusCode, 200, 'with an unknown parameter')
  }
})

t.test('an endpoint is made, changed, rotated and deleted, as by the app', async (t) => {
  const { test, visitor, app, user } = await setUp(t)
  const form = { ...fields, url: 'https://8.8.8.8/other', ...submission() }
  const made = await visitor.send('/portal/webhooks/new', form)
  t.equal(made.statusCode, 303, made.body)
  const location = String(made.headers.location)
  const path = location.split('?')[0] ?? ''
  t.match(path, /^\/portal\/webhooks\/[\w-]+$/)
  const again = await visitor.send('/portal/webhooks/new', form)
  t.equal(again.headers.location, location, 'the same form twice makes one')
  t.match((await visitor.open(location)).body, /whsec_/)
  t.notMatch((await visitor.open(location)).body, /whsec_/, 'its secret is shown once')
  const changed = await visitor.send(`${path}/settings`, { ...fields, url: 'https://8.8.8.8/new' })
  t.equal(changed.headers.location, `${path}/settings?done=changed`, changed.body)
  const rotated = await visitor.send(`${path}/settings/rotate`, {
    ...{ overlapSeconds: '0', ...submission() },
  })
  t.match((await visitor.open(String(rotated.headers.location))).body, /whsec_/)
  const removed = await visitor.send(`${path}/settings/remove`, { confirm: 'yes', ...submission() })
  t.equal(removed.headers.location, '/portal/webhooks?done=removed')
  t.equal((await visitor.open(path)).statusCode, 404)
  const { rows } = await test.database.admin.query(
    `SELECT action, tenant_id AS "tenantId", user_id AS "userId", service_id AS "serviceId",
       service_name AS name, portal_session_id AS session FROM audit_log
     WHERE action LIKE 'endpoint-%' ORDER BY id`,
  )
  const session = (await test.database.admin.query('SELECT id FROM portal_sessions')).rows[0]?.id
  const by = { tenantId: user.tenantId, userId: null, serviceId: app.id, name: 'backend', session }
  t.strictSame(
    rows,
    ['create', 'change', 'rotate', 'delete'].map((done) => ({ action: `endpoint-${done}`, ...by })),
  )
  const admin = as(test, { ...(await signIn(test, user)), accept: 'text/html' })
  const log = (await admin('GET', '/app/audit?action=endpoint-rotate')).body
  t.match(log, `portal session</span><br><code class="quiet">${session}</code>`)
  t.match((await admin('GET', '/app/audit?action=portal-link-create')).body, 'app token</span>')
})

t.test('a form that is refused shows again what was entered', async (t) => {
  const { visitor } = await setUp(t)
  const entered = { ...fields, url: 'https://10.0.0.1/x', ...submission() }
  const refused = await visitor.send('/portal/webhooks/new', entered)
  t.equal(refused.statusCode, 400)
  t.match(refused.body, 'value="https://10.0.0.1/x"')
  t.match(refused.body, 'class="fault"')
  const taken = await visitor.send('/portal/webhooks/new', { ...fields, ...submission() })
  t.equal(taken.statusCode, 409)
  t.match(taken.body, `value="${url}"`)
  t.strictSame(taken.cookies, [])
})

t.test('a form without the token of its session changes nothing', async (t) => {
  const { test, visitor, enter, endpointId, deliveryId } = await setUp(t)
  const other = await enter()
  const foreign = /name="token" value="([\w-]{43})"/.exec(
    (await other.open('/portal/webhooks/new')).body,
  )
  const digest = async () => {
    const { rows } = await test.database.admin.query(
      'SELECT (SELECT count(*) FROM webhook_endpoints) AS endpoints, (SELECT count(*) FROM audit_log) AS entries',
    )
    return rows
  }
  const before = await digest()
  for (const [path, form] of [
    ['/portal/webhooks/new', { ...fields, url: 'https://8.8.8.8/2', ...submission() }],
    [`/portal/webhooks/${endpointId}/settings`, fields],
    [`/portal/webhooks/${endpointId}/enable`, {}],
    [`/portal/webhooks/${endpointId}/settings/remove`, { confirm: 'yes', ...submission() }],
    [`/portal/deliveries/${deliveryId}/replay`, submission()],
  ] as const) {
    for (const token of [undefined, '', 'x', foreign?.[1], ['x']]) {
      const answer = await visitor.request('POST', path, { ...form, token })
      t.equal(answer.statusCode, 403, `${path} with ${token}`)
    }
    const elsewhere = { 'sec-fetch-site': 'cross-site' }
    const token = /name="token" value="([\w-]{43})"/.exec(
      (await visitor.open('/portal/webhooks/new')).body,
    )
    const sent = await visitor.request('POST', path, { ...form, token: token?.[1] }, elsewhere)
    t.equal(sent.statusCode, 403, 'nor one that the browser says is from elsewhere')
  }
  t.strictSame(await digest(), before)
})

t.test('objects of another tenant are not there', async (t) => {
  const { test, enter, makeLink, openLink, visitor, pages } = await setUp(t)
  const eve = await createUser(test.database, { role: 'admin' })
  const stranger = await enter(eve.tenantId)
  const own = pages.filter((path) => /[\w-]{36}/.test(path))
  t.ok(own.length > 6)
  for (const path of own) {
    t.equal((await visitor.open(path)).statusCode, 200, path)
    t.equal((await stranger.open(path)).statusCode, 404, path)
  }
  for (const path of own.filter((one) => one.endsWith('/settings'))) {
    t.equal((await stranger.send(path, fields)).statusCode, 404)
    t.equal(
      (await stranger.send(`${path}/remove`, { confirm: 'yes', ...submission() })).statusCode,
      404,
    )
  }
  t.notMatch((await stranger.open('/portal/webhooks')).body, url)
  t.equal((await openLink(await makeLink(eve.tenantId))).statusCode, 303)
})
