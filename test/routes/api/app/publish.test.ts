import t from 'tap'
import { as, asText, createUser, signIn } from '#dev/testing/people.ts'
import { appPermissions } from '#src/access/policy.ts'
import { maxBatch } from '#src/webhooks/events/publish-app-events.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { appCaller } from '#test/support/callers/app-caller.ts'
import { serviceOwner } from '#test/support/callers/service-owner.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

const name = 'report.finished'
const schema = {
  type: 'object',
  properties: { id: { type: 'string' }, pages: { type: 'integer', minimum: 1 } },
  required: ['id', 'pages'],
  additionalProperties: false,
}
const data = { id: 'r1', pages: 3 }

/** A tenant, the app and a registered type. */
async function setUp(test: TestApp) {
  const { tenantId } = await createUser(test.database, { role: 'admin' })
  const app = await appCaller(test)
  const registered = await app.use('PUT', `/event-types/${name}`, { description: 'x', schema })
  if (registered.statusCode >= 300) throw new Error(registered.body)
  const publish = (body: object, headers: Record<string, string> = {}, tenant = tenantId) =>
    app.use('POST', `/tenants/${tenant}/events`, body, headers)
  return { tenantId, app, publish }
}

async function stored({ database }: TestApp, tenantId: string) {
  const { rows } = await database.admin.query(
    'SELECT id, type, body::json AS body FROM outbound_events WHERE tenant_id = $1 ORDER BY sequence',
    [tenantId],
  )
  return rows
}

async function deliveriesOf({ database }: TestApp, tenantId: string) {
  const { rows } = await database.admin.query(
    `SELECT d.event_type, d.status, d.endpoint_id, a.number FROM deliveries d
     LEFT JOIN due_attempts a ON a.tenant_id = d.tenant_id AND a.delivery_id = d.id
     WHERE d.tenant_id = $1 ORDER BY d.created_at, d.event_id`,
    [tenantId],
  )
  return rows
}

/** For every test that changes nothing outside of tenants and users of its own. */
const test = await build(t)

t.test('an event is stored with its deliveries in the tenant that the app names', async (t) => {
  const test = await build(t)
  const { tenantId, publish } = await setUp(test)
  const url = 'https://8.8.8.8/'
  const [all, chosen, other, disabled] = [
    await createEndpoint(test.database, { tenantId }, { url }),
    await createEndpoint(test.database, { tenantId }, { url, eventTypes: [name] }),
    await createEndpoint(test.database, { tenantId }, { url, eventTypes: ['order.updated'] }),
    await createEndpoint(test.database, { tenantId }, { url, status: 'disabled' }),
  ]
  const answer = await publish({ type: name, data })
  t.equal(answer.statusCode, 201, answer.body)
  const { data: published } = answer.json()
  t.match(published, [{ id: /^msg_/, type: name, createdAt: String }])
  const [event] = published
  t.strictSame(await stored(test, tenantId), [
    { id: event.id, type: name, body: { ...event, data } },
  ])
  const deliveries = await deliveriesOf(test, tenantId)
  const of = (id: string) => deliveries.filter(({ endpoint_id }) => endpoint_id === id)
  t.match(of(all), [{ event_type: name, status: 'pending', number: 1 }])
  t.match(of(chosen), [{ event_type: name, status: 'pending', number: 1 }])
  t.match(of(disabled), [{ status: 'exhausted', number: null }])
  t.strictSame(of(other), [])
  const { rows } = await test.database.admin.query(
    `SELECT data ->> 'endpointId' AS id FROM pgboss.job WHERE name = 'endpoint-turn'`,
  )
  t.strictSame(rows.map(({ id }) => id).sort(), [all, chosen].sort(), 'a job for each')
})

t.test('a batch is one commit, in its order', async (t) => {
  const { tenantId, publish } = await setUp(test)
  await createEndpoint(test.database, { tenantId }, { url: 'https://8.8.8.8/' })
  const events = Array.from({ length: maxBatch }, (_, index) => ({
    type: name,
    data: { id: `r${index}`, pages: 1 },
    id: `event-${index}`,
  }))
  const answer = await publish({ events })
  t.equal(answer.statusCode, 201, answer.body)
  const ids = events.map(({ id }) => id)
  t.strictSame(
    answer.json().data.map(({ id }: { id: string }) => id),
    ids,
  )
  t.strictSame(
    (await stored(test, tenantId)).map(({ id }) => id),
    ids,
  )
  const { rows } = await test.database.admin.query(
    'SELECT count(DISTINCT xact_id)::int AS commits FROM outbound_events WHERE tenant_id = $1',
    [tenantId],
  )
  t.strictSame(rows, [{ commits: 1 }])
  t.equal((await deliveriesOf(test, tenantId)).length, maxBatch)
  const tooMany = await publish({ events: [...events, { type: name, data, id: 'one-more' }] })
  t.equal(tooMany.statusCode, 400)
})

t.test('if one event is wrong nothing is published and every fault is named', async (t) => {
  const { tenantId, publish } = await setUp(test)
  const answer = await publish({
    events: [
      { type: name, data },
      { type: name, data: { id: 1, pages: 0, more: true } },
      { type: 'report.unknown', data: {} },
      { type: 'order.updated', data: {} },
      { type: name, data: {}, id: 'same' },
      { type: name, data, id: 'same' },
    ],
  })
  t.equal(answer.statusCode, 400)
  t.strictSame(answer.json().errors, [
    { in: 'body', pointer: '/events/1/data/more', detail: 'is not a known field' },
    { in: 'body', pointer: '/events/1/data/id', detail: 'must be a string' },
    { in: 'body', pointer: '/events/1/data/pages', detail: 'must be at least 1' },
    { in: 'body', pointer: '/events/2/type', detail: 'is not a registered event type' },
    { in: 'body', pointer: '/events/3/type', detail: 'is a type of this program itself' },
    { in: 'body', pointer: '/events/4/data/id', detail: 'is required' },
    { in: 'body', pointer: '/events/4/data/pages', detail: 'is required' },
    {
      in: 'body',
      pointer: '/events/5/id',
      detail: 'belongs to an event before it in the batch',
    },
  ])
  const wrong = Array.from({ length: maxBatch }, () => ({ type: 'report.unknown', data: {} }))
  t.equal((await publish({ events: wrong })).json().errors.length, maxBatch, 'one for each')
  t.match((await publish({ type: name, data: { id: 'x' } })).json(), {
    errors: [{ pointer: '/data/pages', detail: 'is required' }],
  })
  t.strictSame(await stored(test, tenantId), [])
})

t.test('a type of the program is refused, though the app had registered the name', async (t) => {
  const test = await build(t)
  const { tenantId, publish } = await setUp(test)
  const own = 'order.updated'
  t.equal((await publish({ type: name, data, id: 'before' })).statusCode, 201)
  // As if an upgrade had brought the type.
  const { admin } = test.database
  await admin.query('UPDATE app_event_types SET name = $1', [own])
  await admin.query(`UPDATE outbound_events SET type = $1, body = replace(body, $2, $1)`, [
    own,
    name,
  ])
  for (let n = 0; n < 2; n++) {
    t.match((await publish({ type: own, data })).json(), {
      status: 400,
      errors: [{ pointer: '/type', detail: 'is a type of this program itself' }],
    })
  }
  const again = await publish({ type: own, data, id: 'before' })
  t.equal(again.statusCode, 201, 'what was published before has no second effect')
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.equal((await stored(test, tenantId)).length, 1)
})

t.test('a type that another process has changed is checked as it is now', async (t) => {
  const test = await build(t)
  const { tenantId, publish } = await setUp(test)
  const change = (required: string) =>
    test.database.admin.query(
      `UPDATE app_event_types SET schema = $1, updated_at = updated_at + interval '1 millisecond'`,
      [{ type: 'object', required: [required] }],
    )
  t.equal((await publish({ type: name, data })).statusCode, 201)
  await change('author')
  const events = [
    { type: name, data: { author: 'Ada' } },
    { type: name, data },
  ]
  t.match((await publish({ events })).json().errors, [{ pointer: '/events/1/data/author' }])
  t.equal((await publish({ type: name, data: { author: 'Ada' } })).statusCode, 201)
  await change('editor')
  t.equal((await publish({ type: name, data: { author: 'Ada' } })).statusCode, 400)
  await change('title')
  // What was seen last would refuse it.
  t.equal((await publish({ type: name, data: { title: 'Bridges' } })).statusCode, 201)
  t.strictSame(
    (await stored(test, tenantId)).map(({ body }) => body.data),
    [data, { author: 'Ada' }, { title: 'Bridges' }],
  )
})

t.test('a malformed request publishes nothing', async (t) => {
  const { tenantId, app, publish } = await setUp(test)
  for (const body of [
    {},
    [],
    { type: name },
    { data },
    { events: [] },
    { type: name, data: null },
    { type: name, data: [] },
    { type: name, data: 'x' },
    { type: 'Report.finished', data },
    { type: 'report.', data },
    { type: name, data, id: '' },
    { type: name, data, id: 'a.b' },
    { type: name, data, id: 'a'.repeat(65) },
    { type: name, data, tenantId: crypto.randomUUID() },
    { type: name, data, events: [{ type: name, data }] },
    { events: [{ type: name, data }], id: 'x' },
    { events: [{ type: name, data, createdAt: '2026-01-01T00:00:00Z' }] },
  ]) {
    t.equal((await publish(body)).statusCode, 400, JSON.stringify(body))
  }
  t.equal((await publish({ type: name, data }, {}, tenantId.toUpperCase())).statusCode, 400)
  t.equal((await publish({ type: name, data }, {}, crypto.randomUUID())).statusCode, 404)
  const large = { type: name, data: { id: 'x'.repeat(300_000), pages: 1 } }
  t.equal((await publish(large)).statusCode, 413)
  const form = await app.use(
    'POST',
    `/tenants/${tenantId}/events`,
    { type: name, data },
    {
      'content-type': 'text/plain',
    },
  )
  t.equal(form.statusCode, 415)
  t.strictSame(await stored(test, tenantId), [])
})

t.test('data whose check does not end is refused, and others are served', async (t) => {
  const test = await build(t)
  const { tenantId, app, publish } = await setUp(test)
  const doubling = Array.from({ length: 40 }, (_, level) => {
    const $ref = `#/definitions/d${level + 1}`
    return [`d${level}`, { allOf: [{ $ref }, { $ref }] }]
  })
  for (const schema of [
    { properties: { text: { pattern: '^(a+)+$' } } },
    { $ref: '#/definitions/a', definitions: { a: { allOf: [{ $ref: '#/definitions/a' }] } } },
    { $ref: '#/definitions/d0', definitions: { ...Object.fromEntries(doubling), d40: {} } },
  ]) {
    const put = await app.use('PUT', `/event-types/${name}`, { description: 'x', schema })
    t.equal(put.statusCode, 200, put.body)
    // One of its own: what slow checks of a tenant may take is limited.
    const { tenantId: tenant } = await createUser(test.database)
    const slow = { type: name, data: { text: `${'a'.repeat(60)}!` } }
    const one = await publish(slow, {}, tenant)
    t.equal(one.statusCode, 400, one.body)
    const detail = 'takes too long to check against its schema'
    t.match(one.json(), { errors: [{ pointer: '/data', detail }] })
    await app.use('PUT', '/event-types/other', { description: 'x' })
    const batch = await publish({ events: [{ type: 'other', data }, slow] }, {}, tenant)
    t.match(batch.json(), { errors: [{ pointer: '/events/1/data', detail }] })
  }
  await app.use('PUT', `/event-types/${name}`, { description: 'x', schema })
  t.equal((await publish({ type: name, data })).statusCode, 201)
  t.equal((await stored(test, tenantId)).length, 1)
})

/** Data that the check of `exploding` does not end for, and data that it accepts at once. */
const exploding = { properties: { text: { pattern: '^([a-z]+ ?)+$' } } }
const slow = { text: `${'a'.repeat(60)}!` }
const quick = { text: 'a' }

t.test('slow checks of one tenant are refused after a while, and others are served', async (t) => {
  let now = new Date()
  const test = await build(t, {}, { clock: { now: () => now } })
  const { app, publish } = await setUp(test)
  const [greedy, other] = [await createUser(test.database), await createUser(test.database)]
  await app.use('PUT', `/event-types/${name}`, { description: 'x', schema: exploding })
  const statuses: number[] = []
  while (statuses.length < 20 && statuses.at(-1) !== 429) {
    statuses.push((await publish({ type: name, data: slow }, {}, greedy.tenantId)).statusCode)
  }
  t.match(statuses, [400, 400])
  const refused = await publish({ type: name, data: quick }, {}, greedy.tenantId)
  t.equal(refused.statusCode, 429)
  t.match(refused.json().detail, /^Slow checks of event data of this tenant .* Try again in \d+ s/)
  t.ok(Number(refused.headers['retry-after']) > 0)
  const served = await publish({ type: name, data: quick }, {}, other.tenantId)
  t.equal(served.statusCode, 201, served.body)
  t.equal((await publish({ type: name, data: slow }, {}, other.tenantId)).statusCode, 400)

  now = new Date(now.getTime() + Number(refused.headers['retry-after']) * 1_000)
  const again = await publish({ type: name, data: quick }, {}, greedy.tenantId)
  t.equal(again.statusCode, 201, again.body)
})

t.test('slow checks of one type by many tenants refuse this type alone', async (t) => {
  const now = new Date()
  const test = await build(t, {}, { clock: { now: () => now } })
  const { app, publish, tenantId } = await setUp(test)
  const type = 'report.slow'
  await app.use('PUT', `/event-types/${type}`, { description: 'x', schema: exploding })
  let refused: Awaited<ReturnType<typeof publish>> | undefined
  for (let n = 0; n < 20 && refused?.statusCode !== 429; n += 1) {
    const { tenantId } = await createUser(test.database)
    for (let m = 0; m < 3; m += 1) refused = await publish({ type, data: slow }, {}, tenantId)
  }
  t.equal(refused?.statusCode, 429)
  t.match(refused?.json().detail, `of the type ${type}`)
  t.equal((await publish({ type, data: quick })).statusCode, 429)
  const events = [
    { type: name, data },
    { type, data: quick },
  ]
  t.equal((await publish({ events })).statusCode, 429, 'the whole batch')
  const other = await publish({ type: name, data })
  t.equal(other.statusCode, 201, other.body)
  t.equal((await stored(test, tenantId)).length, 1)
})

t.test('the schemas of a batch have at most 2 MiB', async (t) => {
  const test = await build(t)
  const { app, publish } = await setUp(test)
  const description = 'x'.repeat(65_000)
  const events = Array.from({ length: 33 }, (_, n) => ({ type: `large.${n}`, data }))
  for (const { type } of events) {
    const schema = { description, properties: { id: { type: 'string' } } }
    await app.use('PUT', `/event-types/${type}`, { description: 'x', schema })
  }
  const all = await publish({ events })
  t.equal(all.statusCode, 400, all.body)
  t.match(all.json().detail, /more than 2 MiB together/)
  const [first, ...rest] = events
  const most = await publish({ events: rest })
  t.equal(most.statusCode, 201, most.body)
  t.equal((await publish({ events: [first] })).statusCode, 201, 'compiled again')
  const wrong = await publish({ events: [{ ...first, data: { id: 1 } }] })
  t.match(wrong.json(), { errors: [{ pointer: '/events/0/data/id' }] })
})

t.test('an event that is nested too deep is refused', async (t) => {
  const { tenantId, app } = await setUp(test)
  await app.use('PUT', '/event-types/any', { description: 'x' })
  const path = `/tenants/${tenantId}/events`
  const body = `{"type":"any","data":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`
  const headers = { authorization: `Bearer ${app.token}` }
  for (const key of [{}, { 'idempotency-key': 'k' }]) {
    const answer = await asText(test, { ...headers, ...key })('POST', path, body)
    t.equal(answer.statusCode, 400, answer.body)
  }
  t.strictSame(await stored(test, tenantId), [])
})

t.test(
  'the body of an event with the same id is read only if it has the same length',
  async (t) => {
    const { tenantId, publish } = await setUp(test)
    const event = { type: name, data: { ...data, id: 'ä€😀' }, id: 'once' }
    t.equal((await publish(event)).statusCode, 201)
    t.equal((await publish(event)).headers['idempotent-replayed'], 'true', 'bytes, not characters')
    // No JSON: reading it would be a 500.
    await test.database.admin.query(
      `UPDATE outbound_events SET body = repeat('x', 1000) WHERE tenant_id = $1`,
      [tenantId],
    )
    const answer = await publish(event)
    t.equal(answer.statusCode, 409, answer.body)
  },
)

t.test('an id that is published again has no second effect', async (t) => {
  const { tenantId, app, publish } = await setUp(test)
  await createEndpoint(test.database, { tenantId }, { url: 'https://8.8.8.8/' })
  const event = { type: name, data, id: 'once' }
  const answers = await Promise.all([publish(event), publish(event), publish(event)])
  for (const answer of answers) {
    t.equal(answer.statusCode, 201, answer.body)
    t.strictSame(answer.json(), answers[0]?.json())
  }
  t.equal(answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true').length, 2)
  t.equal((await stored(test, tenantId)).length, 1)
  t.equal((await deliveriesOf(test, tenantId)).length, 1)

  const other = { ...event, data: { ...data, pages: 4 } }
  const conflict = await publish({ events: [{ type: name, data, id: 'new' }, other] })
  t.equal(conflict.statusCode, 409, conflict.body)
  t.match(conflict.json(), { errors: [{ pointer: '/events/1/id' }] })
  t.equal((await stored(test, tenantId)).length, 1, 'nothing of the batch')
  const longer = { ...event, data: { ...data, pages: 30 } }
  t.equal((await publish(longer)).statusCode, 409, 'nor with data of another length')
  const turned = { ...event, data: { pages: 3, id: 'r1' } }
  t.equal((await publish(turned)).headers['idempotent-replayed'], 'true', 'fields have no order')

  const half = await publish({ events: [event, { type: name, data, id: 'new' }] })
  t.equal(half.statusCode, 201)
  t.equal(half.headers['idempotent-replayed'], undefined)
  t.equal((await stored(test, tenantId)).length, 2, 'only the one that is new')

  await app.use('PUT', `/event-types/${name}`, { description: 'x', schema: { required: ['z'] } })
  t.equal((await publish(event)).statusCode, 201, 'whatever its type requires by now')
  t.equal((await publish({ ...event, id: 'later' })).statusCode, 400)

  const { tenantId: another } = await createUser(test.database)
  await app.use('PUT', `/event-types/${name}`, { description: 'x' })
  t.equal((await publish(event, {}, another)).headers['idempotent-replayed'], undefined)
  t.equal((await stored(test, another)).length, 1, 'ids of another tenant are others')
})

t.test('an Idempotency-Key makes one request of two', async (t) => {
  const { tenantId, publish } = await setUp(test)
  const key = { 'idempotency-key': 'k' }
  const [one, two] = await Promise.all([
    publish({ type: name, data }, key),
    publish({ type: name, data }, key),
  ])
  t.equal(one.statusCode, 201, one.body)
  t.strictSame(one.json(), two.json())
  t.equal((await publish({ type: name, data: { ...data, pages: 4 } }, key)).statusCode, 422)
  const { tenantId: another } = await createUser(test.database)
  t.equal((await publish({ type: name, data }, key, another)).statusCode, 201)
  const second = await appCaller(test)
  const path = `/tenants/${tenantId}/events`
  const own = await second.use('POST', path, { type: name, data }, key)
  t.not(own.json().data[0].id, one.json().data[0].id, 'keys of another token are others')
  t.equal((await stored(test, tenantId)).length, 2)
})

t.test('the storage for events of the tenant holds', async (t) => {
  const test = await build(t, { QUOTA_EVENTS: '3/1' })
  const { tenantId, publish } = await setUp(test)
  const events = (count: number) => Array.from({ length: count }, () => ({ type: name, data }))
  t.equal((await publish({ events: events(2) })).statusCode, 201)
  const full = await publish({ events: events(3) })
  t.equal(full.statusCode, 409, full.body)
  t.match(full.json(), { type: '/docs/errors/quota-exceeded' })
  t.equal((await stored(test, tenantId)).length, 2, 'nothing of the batch')
})

t.test('nobody but the app publishes, and only with the permission', async (t) => {
  const { tenantId, app } = await setUp(test)
  const path = `/tenants/${tenantId}/events`
  const body = { type: name, data }
  const admin = await serviceOwner(test, { tenantId })
  const service = await admin.make(['event:read'])
  const personal = await admin.send('POST', '/auth/tokens', { name: 'x', permissions: null })
  const token = as(test, { authorization: `Bearer ${personal.json().token}` })
  for (const use of [admin.send, service.use, token]) {
    const answer = await use('POST', path, body)
    t.equal(answer.statusCode, 403)
    t.match(answer.json().detail, 'Only the app may do this')
  }
  t.equal((await test.app.inject({ method: 'POST', url: path, payload: body })).statusCode, 401)
  const lacking = appPermissions.filter((one) => one !== 'event:publish')
  const limited = await appCaller(test, lacking)
  for (const url of [path, `/tenants/${crypto.randomUUID()}/events`, '/tenants/x/events']) {
    t.equal((await limited.use('POST', url, body)).statusCode, 403, 'whatever it names')
  }
  const { admin: database } = test.database
  for (const change of [
    `UPDATE app_tokens SET expires_at = now() - interval '1 second' WHERE id = $1`,
    `UPDATE app_tokens SET expires_at = now() + interval '1 day', hash = sha256('other') WHERE id = $1`,
    'DELETE FROM app_tokens WHERE id = $1',
  ]) {
    await database.query(change, [app.id])
    const answer = await app.use('POST', path, body)
    t.equal(answer.statusCode, 401, change)
    t.match(answer.json(), { type: '/docs/errors/invalid-token' })
  }
  t.strictSame(await stored(test, tenantId), [])
})

t.test('a tenant that was closed is not found', async (t) => {
  const { tenantId, publish } = await setUp(test)
  await test.database.admin.query('SELECT close_tenant($1)', [tenantId])
  t.equal((await publish({ type: name, data })).statusCode, 404)
  t.strictSame(await stored(test, tenantId), [])
})

t.test('an app is nobody on the routes of people and services', async (t) => {
  const { tenantId, app } = await setUp(test)
  for (const url of ['/me', '/posts', '/events', '/webhook-endpoints', '/auth/verify', '/app']) {
    const answer = await app.use('GET', url)
    t.ok([403, 404].includes(answer.statusCode), `${url}: ${answer.statusCode}`)
  }
  const { cookie } = await signIn(test, await createUser(test.database))
  const both = as(test, { authorization: `Bearer ${app.token}`, cookie })
  const answer = await both('POST', `/tenants/${tenantId}/events`, { type: name, data })
  t.equal(answer.statusCode, 400, 'beside a session cookie')
})
