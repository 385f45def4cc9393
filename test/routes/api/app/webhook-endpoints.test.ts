import type { LightMyRequestResponse } from 'fastify'
import t from 'tap'
import { comparable } from '#dev/testing/access/request.ts'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { appPermissions } from '#src/access/policy.ts'
import { endpointRefusals, maxEndpoints } from '#src/webhooks/endpoints/endpoints.ts'
import { build } from '#test/support/app/app.ts'
import { appCaller } from '#test/support/callers/app-caller.ts'
import { serviceOwner } from '#test/support/callers/service-owner.ts'
import { url } from '#test/support/callers/webhook-admin.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const test = await build(t)

const idsOf = (answer: LightMyRequestResponse) =>
  answer.json().data.map(({ id }: { id: unknown }) => id)
const of = (tenantId: string) => `/tenants/${tenantId}/webhook-endpoints`

t.test(
  'the app makes an endpoint for its customer, who sees it, and the audit log says who did',
  async (t) => {
    const user = await createUser(test.database, { role: 'admin' })
    const app = await appCaller(test)
    const made = await app.use('POST', of(user.tenantId), { url, description: 'orders' })
    t.equal(made.statusCode, 201, made.body)
    const { secret, ...endpoint } = made.json()
    t.match(secret, /^whsec_/)
    t.equal(made.headers.location, `${of(user.tenantId)}/${endpoint.id}`)
    const admin = as(test, { cookie: (await signIn(test, user)).cookie })
    const own = await admin('GET', '/webhook-endpoints')
    const listed = await app.use('GET', of(user.tenantId))
    t.strictSame(listed.json(), own.json())
    t.strictSame(listed.json().data, [endpoint], 'without the secret')
    const { rows } = await test.database.admin.query(
      `SELECT action, tenant_id AS "tenantId", user_id AS "userId", service_id AS "serviceId",
       service_name AS name, target FROM audit_log WHERE action LIKE 'endpoint-%'`,
    )
    const facts = { tenantId: user.tenantId, userId: null, serviceId: app.id, name: 'backend' }
    t.strictSame(rows, [{ action: 'endpoint-create', ...facts, target: endpoint.id }])

    t.equal((await app.use('DELETE', String(made.headers.location))).statusCode, 204)
    t.equal((await app.use('DELETE', String(made.headers.location))).statusCode, 404, 'once')
    t.strictSame((await app.use('GET', of(user.tenantId))).json().data, [])
    const entries = await test.database.admin.query(
      `SELECT service_id AS "serviceId", target FROM audit_log WHERE action = 'endpoint-delete'`,
    )
    t.strictSame(entries.rows, [{ serviceId: app.id, target: endpoint.id }])
  },
)

t.test('the URL and the number of endpoints are limited as for the customer', async (t) => {
  const { tenantId } = await createUser(test.database)
  const app = await appCaller(test)
  for (const body of [{ url: 'https://127.0.0.1/' }, { url: 'http://8.8.8.8/' }, { url, x: 1 }]) {
    t.equal((await app.use('POST', of(tenantId), body)).statusCode, 400, JSON.stringify(body))
  }
  t.equal((await app.use('POST', of(tenantId), { url })).statusCode, 201)
  const again = await app.use('POST', of(tenantId), { url })
  t.equal(again.statusCode, 409)
  t.match(again.json(), { detail: 'Another endpoint of the tenant has this URL.' })
  const { tenantId: other } = await createUser(test.database)
  t.equal((await app.use('POST', of(other), { url })).statusCode, 201, 'in each tenant')

  for (let made = 1; made < maxEndpoints; made += 1) {
    await createEndpoint(test.database, { tenantId }, { url: `${url}/${made}` })
  }
  const full = await app.use('POST', of(tenantId), { url: `${url}/more` })
  t.equal(full.statusCode, 409)
  t.match(full.json(), { detail: endpointRefusals.full })
})

t.test('an Idempotency-Key makes one endpoint in the tenant that is named', async (t) => {
  const [one, two] = [await createUser(test.database), await createUser(test.database)]
  const { token } = await appCaller(test)
  const use = as(test, { authorization: `Bearer ${token}`, 'idempotency-key': 'a' })
  const first = await use('POST', of(one.tenantId), { url })
  const replayed = await use('POST', of(one.tenantId), { url })
  t.equal(replayed.headers['idempotent-replayed'], 'true')
  t.strictSame(replayed.json(), first.json())
  const other = await use('POST', of(two.tenantId), { url })
  t.equal(other.statusCode, 201)
  t.not(other.json().id, first.json().id)
})

t.test('the app reaches the tenant that it names, and no other', async (t) => {
  const test = await build(t)
  const { admin } = test.database
  const [one, two] = [await createUser(test.database), await createUser(test.database)]
  const id = await createEndpoint(test.database, one, { url })
  const foreign = await createEndpoint(test.database, two, { url })
  const app = await appCaller(test)
  t.strictSame(idsOf(await app.use('GET', of(one.tenantId))), [id])
  const missing = crypto.randomUUID()
  const refused = await app.use('DELETE', `${of(one.tenantId)}/${foreign}`)
  t.equal(refused.statusCode, 404)
  const unknown = await app.use('DELETE', `${of(one.tenantId)}/${missing}`)
  t.strictSame(comparable(refused), comparable(unknown), 'the same as for one that does not exist')
  const kept = async () =>
    (await admin.query('SELECT id FROM webhook_endpoints ORDER BY created_at, id')).rows.length
  t.equal(await kept(), 2)

  const { tenantId: closed } = await createUser(test.database)
  const inClosed = await createEndpoint(test.database, { tenantId: closed }, { url })
  await admin.query('SELECT close_tenant($1)', [closed])
  for (const [tenantId, endpointId] of [
    [closed, inClosed],
    [missing, id],
  ] as const) {
    for (const [method, path, body] of [
      ['GET', of(tenantId)],
      ['POST', of(tenantId), { url: 'https://8.8.8.8/new' }],
      ['DELETE', `${of(tenantId)}/${endpointId}`],
      ['GET', `/tenants/${tenantId}/members`],
    ] as const) {
      t.equal((await app.use(method, path, body)).statusCode, 404, `${method} ${path}`)
    }
  }
  t.equal((await app.use('GET', of('x'))).statusCode, 400)
  t.equal((await app.use('DELETE', `${of(one.tenantId)}/x`)).statusCode, 400)
  const { rows } = await admin.query('SELECT id FROM webhook_endpoints WHERE url <> $1', [url])
  t.strictSame(rows, [])
})

t.test('each route needs its permission, and is for the app alone', async (t) => {
  const { tenantId } = await createUser(test.database, { role: 'admin' })
  const id = await createEndpoint(test.database, { tenantId }, { url })
  const owner = await serviceOwner(test, { tenantId })
  const service = await owner.make([
    ...['webhook-endpoint:read', 'webhook-endpoint:create', 'webhook-endpoint:delete'],
    'user:read',
  ])
  for (const [permission, method, path, body] of [
    ['webhook-endpoint:read', 'GET', of(tenantId)],
    ['webhook-endpoint:create', 'POST', of(tenantId), { url: 'https://8.8.8.8/new' }],
    ['webhook-endpoint:delete', 'DELETE', `${of(tenantId)}/${id}`],
    ['member:read', 'GET', `/tenants/${tenantId}/members`],
  ] as const) {
    const lacking = await appCaller(
      test,
      appPermissions.filter((one) => one !== permission),
    )
    const limited = await lacking.use(method, path, body)
    t.equal(limited.statusCode, 403, permission)
    t.match(limited.json().detail, 'The app token lacks the permission.')
    for (const use of [owner.send, service.use]) {
      const answer = await use(method, path, body)
      t.equal(answer.statusCode, 403, permission)
      t.match(answer.json().detail, 'Only the app may do this')
    }
    const anonymous = await test.app.inject({ method, url: path, ...(body && { payload: body }) })
    t.equal(anonymous.statusCode, 401)
    const app = await appCaller(test, [permission])
    t.ok((await app.use(method, path, body)).statusCode < 300, permission)
  }
})

t.test('without a tenant in the path nothing is for the app', async (t) => {
  const { tenantId } = await createUser(test.database)
  const id = await createEndpoint(test.database, { tenantId }, { url })
  const app = await appCaller(test)
  for (const [method, path, body] of [
    ['GET', '/webhook-endpoints'],
    ['POST', '/webhook-endpoints', { url: 'https://8.8.8.8/new' }],
    ['DELETE', `/webhook-endpoints/${id}`],
    ['GET', `/webhook-endpoints/${id}`],
    ['GET', '/users'],
  ] as const) {
    const answer = await app.use(method, path, body)
    t.equal(answer.statusCode, 403, `${method} ${path}`)
    t.match(answer.json(), { type: '/docs/errors/person-required' })
  }
})

t.test('the members of a tenant are listed as its admins see them, page by page', async (t) => {
  const user = await createUser(test.database, { role: 'admin', email: 'ada@example.com' })
  const { tenantId } = user
  await createUser(test.database, { tenantId, department: 'press' })
  const stranger = await createUser(test.database, { email: 'eve@example.com' })
  const app = await appCaller(test, ['member:read'])
  const admin = as(test, { cookie: (await signIn(test, user)).cookie })
  const all = await app.use('GET', `/tenants/${tenantId}/members`)
  t.strictSame(all.json(), (await admin('GET', '/users')).json())
  t.equal(all.json().data.length, 2)
  const page = (await app.use('GET', `/tenants/${tenantId}/members?limit=1`)).json()
  const next = await app.use('GET', `/tenants/${tenantId}/members?cursor=${page.nextCursor}`)
  t.strictSame([...page.data, ...next.json().data], all.json().data)
  const found = await app.use('GET', `/tenants/${tenantId}/members?search=eve@example.com`)
  t.strictSame(found.json().data, [], 'nobody of another tenant')
  const theirs = await app.use('GET', `/tenants/${stranger.tenantId}/members`)
  t.strictSame(idsOf(theirs), [stranger.userId])
  t.match(theirs.json().data, [{ email: 'eve@example.com' }])
})
