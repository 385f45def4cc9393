import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { startReceiver } from '#dev/testing/receiver.ts'
import { receive } from '#test/billing/received.ts'
import { visitor, webhookVisitors } from '#test/pages/webhooks/webhook-visitors.ts'
import { build } from '#test/support/app/app.ts'
import { signedInBy } from '#test/support/callers/account.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { startCallers } from '#test/support/receiver/endpoint-calls.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const shared = await build(t)

const url = 'https://8.8.8.8/hook'
const newEndpoint = { url, description: '', signature: 'spec' }
const submission = () => ({ submission: crypto.randomUUID() })
const secretIn = (body: string) => /<code[^>]*>((?:whsec|gth)_[^<]+)<\/code>/.exec(body)?.[1]

t.test('a form submitted twice has one effect, also at the same moment', async (t) => {
  const receiver = await startReceiver((_request, response) => response.writeHead(200).end())
  t.teardown(() => receiver.close())
  const { test, one, admin } = await webhookVisitors(
    await build(t, {
      OUTBOUND_ALLOW: `127.0.0.1:${receiver.port}`,
      OPERATORS: 'demo:olga',
    }),
  )
  await startCallers(t, test)
  await signedInBy(test, one.userId, 'olga')
  await receive(test.database, { id: 'evt', status: 'dead' })
  const endpointId = await createEndpoint(test.database, one, { url: `${receiver.url}/` })
  const deliveryId = await createDelivery(test.database, { ...one, endpointId, attempts: 1 })
  const endpoint = `/app/webhooks/${endpointId}`
  const gone = await createEndpoint(test.database, one, { url: 'https://8.8.4.4/' })
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
  const forms: [url: string, fields: Record<string, string>, effects: string][] = [
    [
      '/app/account/tokens/new',
      { name: 'nightly', days: '7', extent: 'all' },
      'SELECT FROM api_tokens',
    ],
    ['/app/webhooks/new', newEndpoint, `SELECT FROM webhook_endpoints WHERE url LIKE '${url}%'`],
    [`${endpoint}/settings/rotate`, { overlapSeconds: '3600' }, `${audit} 'endpoint-rotate'`],
    [`${endpoint}/test`, {}, `${audit} 'endpoint-test'`],
    [`${endpoint}/replays`, range, 'SELECT FROM endpoint_replays'],
    [`/app/deliveries/${deliveryId}/replay`, {}, `${audit} 'delivery-replay'`],
    [`/app/webhooks/${gone}/settings/remove`, { confirm: 'yes' }, `${audit} 'endpoint-delete'`],
    ['/app/billing/replay', {}, 'SELECT FROM billing_replays WHERE event_ids IS NULL'],
    ['/app/billing/evt/replay', {}, 'SELECT FROM billing_replays WHERE event_ids IS NOT NULL'],
  ]
  for (const [path, fields, effects] of forms) {
    const count = async () => (await test.database.admin.query(effects)).rowCount
    const form = { ...fields, ...submission() }
    const [first, second] = await Promise.all([admin.send(path, form), admin.send(path, form)])
    const third = await admin.send(path, form)
    t.same(
      [first, second, third].map(({ statusCode }) => statusCode),
      [303, 303, 303],
      path,
    )
    if (!path.endsWith('/test')) {
      t.equal(second.headers.location, first.headers.location, path)
      t.equal(third.headers.location, first.headers.location, path)
    }
    t.equal(await count(), 1, `${path}: one effect`)
    // A deleted endpoint cannot be deleted again, and a replay in progress is not started again.
    if (/deliveries|remove/.test(path)) continue
    // A tenant has a URL once.
    const other = fields.url === undefined ? {} : { url: `${fields.url}/other` }
    await admin.send(path, { ...fields, ...other, ...submission() })
    t.equal(await count(), 2, `${path}: the form of a page that was loaded again is another one`)
  }
})

const audit = 'SELECT FROM audit_log WHERE action ='

t.test('a rotated secret stays the newest however often its page is reloaded', async (t) => {
  const { test, one, admin } = await webhookVisitors(shared)
  const id = await createEndpoint(test.database, one, { url })
  const stored = async () => {
    const { rows } = await test.database.admin.query(
      'SELECT secret, previous_secret FROM webhook_endpoints WHERE id = $1',
      [id],
    )
    return rows
  }
  const form = { overlapSeconds: '86400', ...submission() }
  const { headers } = await admin.send(`/app/webhooks/${id}/settings/rotate`, form)
  const after = await stored()
  const shown = await admin.open(String(headers.location))
  t.match(secretIn(shown.body), /^whsec_/)
  t.match(shown.body, /Until <time.*also signed with the old secret/)
  const reloaded = await admin.open(String(headers.location))
  t.equal(reloaded.statusCode, 200)
  t.equal(secretIn(reloaded.body), undefined)
  t.match(reloaded.body, 'was shown already')
  await admin.send(`/app/webhooks/${id}/settings/rotate`, form)
  t.same(await stored(), after, 'current and previous secret are unchanged')
})

t.test('a secret is shown once: to the person who created it, within five minutes', async (t) => {
  const { test, one, admin } = await webhookVisitors(await build(t))
  const { admin: database } = test.database
  const colleague = await visitor(
    test,
    await createUser(test.database, { role: 'admin', tenantId: one.tenantId }),
  )
  const add = async () => {
    const fields = { ...newEndpoint, url: `${url}/${crypto.randomUUID()}` }
    return String((await admin.submit('/app/webhooks/new', fields)).headers.location)
  }
  const first = await add()
  const { rows } = await database.query('SELECT secret FROM idempotency_keys')
  t.notMatch(Buffer.from(rows[0].secret).toString('latin1'), 'whsec_', 'it is stored encrypted')
  t.match((await colleague.open(first)).body, 'was shown already')
  t.equal((await test.app.inject({ url: first })).statusCode, 401)
  const head = { method: 'HEAD', url: first, headers: { cookie: admin.cookie } } as const
  t.equal((await test.app.inject(head)).statusCode, 200)
  const pages = await Promise.all([admin.open(first), admin.open(first)])
  const secrets = pages.map(({ body }) => secretIn(body)).filter((one) => one !== undefined)
  t.equal(secrets.length, 1, 'once, also for two requests at the same moment')

  const late = await add()
  await database.query(`UPDATE idempotency_keys SET created_at = now() - interval '301 s'`)
  t.equal(secretIn((await admin.open(late)).body), undefined)
  const tampered = await add()
  await database.query(
    // Another byte than before.
    `UPDATE idempotency_keys SET secret = set_byte(secret, 40, 255 - get_byte(secret, 40))`,
  )
  const gone = await admin.open(tampered)
  t.equal(gone.statusCode, 200)
  t.match(gone.body, 'was shown already')
  t.equal((await admin.open(`${late.split('?')[0]}?shown=x`)).statusCode, 400)
})

t.test('a form that was changed is another form; a refused one can be sent again', async (t) => {
  const { test, one, admin } = await webhookVisitors(await build(t))
  const form = { ...newEndpoint, ...submission() }
  await admin.send('/app/webhooks/new', form)
  await admin.send('/app/webhooks/new', { ...form, url: `${url}/changed` })
  const { rowCount } = await test.database.admin.query('SELECT FROM webhook_endpoints')
  t.equal(rowCount, 2)

  const id = await createEndpoint(test.database, one, { url, status: 'disabled' })
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
  const replay = { ...range, ...submission() }
  t.equal((await admin.send(`/app/webhooks/${id}/replays`, replay)).statusCode, 409)
  await admin.send(`/app/webhooks/${id}/enable`)
  t.equal((await admin.send(`/app/webhooks/${id}/replays`, replay)).statusCode, 303)
})

t.test('a form about a missing or foreign object leaves no key behind', async (t) => {
  const { test, other, admin } = await webhookVisitors(await build(t))
  const missing = crypto.randomUUID()
  const foreign = await createEndpoint(test.database, other, { url })
  const forms: [url: string, fields: Record<string, string>][] = [
    ...[missing, foreign].flatMap((id): [string, Record<string, string>][] => [
      [`/app/webhooks/${id}/settings/rotate`, { overlapSeconds: '0' }],
      [`/app/webhooks/${id}/settings/remove`, { confirm: 'yes' }],
    ]),
    [`/app/deliveries/${missing}/replay`, {}],
    ['/app/service-tokens/rotate', { id: missing, confirm: 'yes' }],
    ['/app/teams/999999/folders', { name: 'F', parentId: '' }],
  ]
  for (const [path, fields] of forms) {
    t.equal((await admin.submit(path, fields)).statusCode, 404, path)
    const { rowCount } = await test.database.admin.query('SELECT FROM idempotency_keys')
    t.equal(rowCount, 0, path)
  }
})

t.test('every rendered form has its own id', async (t) => {
  const { test, one, admin } = await webhookVisitors(shared)
  const id = await createEndpoint(test.database, one, { url })
  const idsOf = async (path: string) =>
    [...(await admin.open(path)).body.matchAll(/name="submission" value="([^"]+)"/g)].map(
      ([, value]) => value,
    )
  const path = `/app/webhooks/${id}`
  const settings = `${path}/settings`
  const paths = [
    settings,
    settings,
    path,
    `${path}/probe`,
    '/app/webhooks/new',
    '/app/account/tokens/new',
    '/app/account/tenants/new',
  ]
  const ids = (await Promise.all(paths.map(idsOf))).flat()
  t.equal(ids.length, 12, 'tests, a check, secrets, deletions, an endpoint, a token, a tenant')
  t.equal(new Set(ids).size, ids.length)
})
