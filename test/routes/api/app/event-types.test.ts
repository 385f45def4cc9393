import t from 'tap'
import { as, asText, createUser, signIn } from '#dev/testing/people.ts'
import { lockUntilCommit } from '#src/db/advisory-lock.ts'
import { maxPageBytes } from '#src/db/keyset.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { maxAppTypes, maxTypeBytes } from '#src/webhooks/events/app-types.ts'
import { eventTypes as ownTypes } from '#src/webhooks/events/types.ts'
import { build } from '#test/support/app/app.ts'
import { appCaller } from '#test/support/callers/app-caller.ts'
import { patient } from '#test/support/database/open.ts'
import { untilBlocked } from '#test/support/database/until.ts'

t.test('a type is registered once, and replaced', async (t) => {
  const test = await build(t)
  const { use } = await appCaller(test)
  const schema = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }
  const first = await use('PUT', '/event-types/report.finished', {
    description: 'A report is finished.',
    schema,
    example: { id: 1 },
  })
  t.equal(first.statusCode, 201, first.body)
  t.match(first.json(), { name: 'report.finished', schema, example: { id: 1 } })
  const second = await use('PUT', '/event-types/report.finished', { description: 'Done.' })
  t.equal(second.statusCode, 200)
  t.match(second.json(), { description: 'Done.', schema: null, example: null })
  t.not(second.json().updatedAt, first.json().updatedAt)
  await use('PUT', '/event-types/account.opened', { description: 'Opened.' })
  const page = (await use('GET', '/event-types?limit=1')).json()
  t.match(page, { data: [{ name: 'account.opened' }], nextCursor: String })
  const rest = (await use('GET', `/event-types?limit=1&cursor=${page.nextCursor}`)).json()
  t.match(rest, { data: [{ name: 'report.finished' }], nextCursor: null })
})

t.test('what cannot be used as a type is refused, with the reason', async (t) => {
  const test = await build(t)
  const { use } = await appCaller(test)
  const put = (body: object, name = 'report.finished') => use('PUT', `/event-types/${name}`, body)
  for (const [body, pointer] of [
    [{}, '/description'],
    [{ description: '' }, '/description'],
    [{ description: 'x', more: 1 }, '/more'],
    [{ description: 'x', schema: [] }, '/schema'],
    [{ description: 'x', schema: { type: 'objekt' } }, '/schema'],
    [{ description: 'x', schema: { typ: 'object' } }, '/schema'],
    [{ description: 'x', schema: { $ref: 'https://elsewhere.example/schema' } }, '/schema'],
    [{ description: 'x', schema: { properties: { a: { pattern: '(' } } } }, '/schema'],
    [{ description: 'x', schema: { $async: true } }, '/schema'],
    [
      {
        description: 'x',
        schema: { properties: { a: { pattern: '^(a+)+$' } } },
        example: { a: `${'a'.repeat(60)}!` },
      },
      '/example',
    ],
    [{ description: 'x', schema: { required: ['id'] }, example: {} }, '/example/id'],
    [{ description: 'x', example: 'x' }, '/example'],
  ] as const) {
    const answer = await put(body)
    t.equal(answer.statusCode, 400, JSON.stringify(body))
    t.ok(
      answer.json().errors.some((error: { pointer: string }) => error.pointer === pointer),
      answer.body,
    )
  }
  for (const name of ['Report', 'a..b', '.a', 'a.', 'a b', 'ä', 'a'.repeat(101)]) {
    t.equal((await put({ description: 'x' }, encodeURIComponent(name))).statusCode, 400, name)
  }
  t.equal((await put({ description: 'x' }, 'order.updated')).statusCode, 409, 'one of our own')
  t.equal((await put({ description: 'x', schema: { $id: 'same' } })).statusCode, 201)
  t.equal(
    (await put({ description: 'x', schema: { $id: 'same', type: 'object' } })).statusCode,
    200,
  )
  const { rows } = await test.database.admin.query('SELECT name FROM app_event_types')
  t.strictSame(rows, [{ name: 'report.finished' }])
})

t.test('an example or a schema that is nested too deep is refused', async (t) => {
  const test = await build(t)
  const { token } = await appCaller(test)
  const send = asText(test, { authorization: `Bearer ${token}` })
  const deep = `{"enum":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  for (const field of ['schema', 'example']) {
    const body = `{"description":"x","${field}":${deep}}`
    const answer = await send('PUT', '/event-types/report.finished', body)
    t.equal(answer.statusCode, 400, answer.body)
  }
})

t.test('a schema and an example have at most 64 KiB each', async (t) => {
  const test = await build(t)
  const { use } = await appCaller(test)
  const empty = JSON.stringify({ description: '' }).length
  const ofBytes = (bytes: number) => ({ description: 'x'.repeat(bytes - empty) })
  const put = (body: object) => use('PUT', '/event-types/big', { description: 'x', ...body })
  const most = ofBytes(maxTypeBytes)
  const stored = await put({ schema: most, example: most })
  t.equal(stored.statusCode, 201, stored.body)
  for (const field of ['schema', 'example']) {
    const answer = await put({ [field]: ofBytes(maxTypeBytes + 1) })
    t.equal(answer.statusCode, 400)
    const detail = 'must have at most 64 KiB as JSON'
    t.match(answer.json(), { errors: [{ pointer: `/${field}`, detail }] })
  }
  const wide = { description: 'é'.repeat(maxTypeBytes / 2) }
  t.equal((await put({ example: wide })).statusCode, 400, 'bytes, not characters')
})

t.test('a page of types ends at a number of bytes', async (t) => {
  const test = await build(t)
  const { use } = await appCaller(test)
  const bytes = Math.ceil(maxPageBytes / 3) + 1
  await test.database.admin.query(
    `INSERT INTO app_event_types (name, description, schema, example)
     SELECT 'x' || n, 'x', CASE WHEN n <> 2 THEN long END, CASE WHEN n = 2 THEN long END
     FROM generate_series(1, 4) n, json_build_object('description', repeat('x', $1)) long`,
    [bytes],
  )
  const page = (await use('GET', '/event-types')).json()
  const names = ({ data }: { data: { name: string }[] }) => data.map(({ name }) => name)
  t.strictSame(names(page), ['x1', 'x2', 'x3'])
  const rest = (await use('GET', `/event-types?cursor=${page.nextCursor}`)).json()
  t.strictSame([names(rest), rest.nextCursor], [['x4'], null])
})

t.test('there is a most of types', async (t) => {
  const test = await build(t)
  const { use } = await appCaller(test)
  await test.database.admin.query(
    `INSERT INTO app_event_types (name, description) SELECT 'x' || n, 'x' FROM generate_series(1, $1) n`,
    [maxAppTypes],
  )
  t.equal((await use('PUT', '/event-types/new', { description: 'x' })).statusCode, 409)
  t.equal((await use('PUT', '/event-types/x1', { description: 'y' })).statusCode, 200)
})

t.test('two requests at once do not register more types than there may be', async (t) => {
  const test = await build(t)
  const { use } = await appCaller(test)
  const { admin } = test.database
  await admin.query(
    `INSERT INTO app_event_types (name, description) SELECT 'x' || n, 'x' FROM generate_series(1, $1) n`,
    [maxAppTypes - 1],
  )
  const other = openSystemDatabase(test.database.url, 1, patient)
  t.teardown(() => other.close())
  const late = await other.transaction({ statementTimeoutMs: 30_000 }, async (tx) => {
    await lockUntilCommit(tx, 'event-types')
    await tx.sql`INSERT INTO app_event_types (name, description) VALUES ('last', 'x')`
    const put = use('PUT', '/event-types/late', { description: 'x' })
    await untilBlocked(test.database)
    return { put }
  })
  t.equal((await late.put).statusCode, 409)
})

t.test('of many types the refusal names the most similar, also those of the app', async (t) => {
  const test = await build(t)
  await test.database.admin.query(
    `INSERT INTO app_event_types (name, description)
     SELECT 'report.part-' || n, 'x' FROM generate_series(1, 400) n`,
  )
  const { cookie } = await signIn(test, await createUser(test.database, { role: 'admin' }))
  const eventTypes = ['report.part_7', ...Array.from({ length: 20 }, (_, n) => `none.${n}`)]
  const body = { url: 'https://8.8.8.8/', eventTypes }
  const refused = await as(test, { cookie })('POST', '/webhook-endpoints', body)
  const { errors } = refused.json()
  t.equal(errors.length, 21)
  t.match(
    errors[0].detail,
    /the most similar are report\.part-7, report\.part-\d+, report\.part-\d+, and/,
  )
  t.equal(errors[20].detail, 'is not an event type', 'the comparisons are bounded')
})

t.test('an endpoint chooses a registered type, by API and by form', async (t) => {
  const test = await build(t)
  const { use } = await appCaller(test)
  await use('PUT', '/event-types/report.finished', { description: 'x' })
  const { tenantId, userId } = await createUser(test.database, { role: 'admin' })
  const { cookie } = await signIn(test, { tenantId, userId })
  const send = as(test, { cookie })
  const url = 'https://8.8.8.8/'
  const unknown = await send('POST', '/webhook-endpoints', {
    url,
    eventTypes: ['order.updated', 'report.started'],
  })
  t.equal(unknown.statusCode, 400)
  t.match(unknown.json(), {
    errors: [{ pointer: '/eventTypes/1', detail: 'is not an event type' }],
  })
  const [{ detail }] = unknown.json().errors
  for (const type of [...ownTypes, 'report.finished']) t.match(detail, type)
  const eventTypes = ['order.updated', 'report.finished']
  const made = await send('POST', '/webhook-endpoints', { url, eventTypes })
  t.equal(made.statusCode, 201, made.body)
  t.strictSame(made.json().eventTypes, eventTypes)
  const path = `/webhook-endpoints/${made.json().id}`
  t.equal((await send('PATCH', path, { eventTypes: ['report.started'] })).statusCode, 400)
  t.strictSame((await send('GET', path)).json().eventTypes, eventTypes)

  const form = await send('GET', '/app/webhooks/new')
  t.match(form.body, 'value="report.finished"')
  const page = `/app/webhooks/${made.json().id}`
  const deliveries = await send('GET', `${page}/deliveries?eventType=report.finished`)
  t.match(deliveries.body, /<option value="report\.finished" selected>/)
  t.match((await send('GET', `${page}/settings`)).body, /value="report\.finished"[^>]* checked/)

  const body = { type: 'report.finished', data: {}, id: 'my-own' }
  t.equal((await use('POST', `/tenants/${tenantId}/events`, body)).statusCode, 201)
  const list = await send('GET', '/app/events?type=report.finished')
  t.match(list.body, 'href="/app/events/my-own"')
  t.equal((await send('GET', '/app/events/my-own')).statusCode, 200)
})
