import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { uuidForm } from '#src/http/schemas.ts'
import { build } from '#test/support/app/app.ts'
import { countRows, nothingRecorded, path, send, sign } from './send-event.ts'

const charge = { id: 'evt_1', type: 'charge.succeeded' }
const at = 1614265330

t.test('an event is recorded once, and only its first delivery is enqueued', async (t) => {
  const { app, database } = await build(t)
  const body = Buffer.from('{ "id": "evt_1",\t"type": "charge.succeeded" }\n')
  const first = await send(app, body)
  t.match(first, { statusCode: 200, body: 'recorded' })
  t.match(first.headers, { 'content-type': /^text\/plain/ })
  t.match(await send(app, body), { statusCode: 200, body: 'duplicate' })
  const other = await send(app, { ...charge, type: 'subscription.created' })
  t.match(other, { statusCode: 200, body: 'duplicate' }, 'the same id with another body')
  t.strictSame(await countRows(database), { known: 1, received: 1, jobs: 1 })
  const { rows } = await database.admin.query(
    'SELECT event_id, type, body, secret_index, status, attempts FROM received_events',
  )
  const recorded = { event_id: 'evt_1', type: 'charge.succeeded', secret_index: 0, attempts: 0 }
  t.strictSame(rows, [{ ...recorded, body, status: 'recorded' }], 'the bytes as received')
  const jobs = await database.admin.query('SELECT name, data FROM pgboss.job')
  t.match(jobs.rows, [{ name: 'billing-event', data: { eventId: 'evt_1', requestId: uuidForm } }])
  t.equal(jobs.rows.length, 1)
})

t.test('a kind that is not processed is ignored with 200', async (t) => {
  const { app, database } = await build(t)
  t.match(await send(app, { id: 'evt_1', type: 'charge.refunded' }), { statusCode: 200 })
  t.match(await send(app, { id: 'evt_1', type: 'charge.refunded' }), { body: 'duplicate' })
  t.strictSame(await countRows(database), { known: 1, received: 1, jobs: 0 })
  const { rows } = await database.admin.query('SELECT status FROM received_events')
  t.strictSame(rows, [{ status: 'ignored' }])
})

t.test('a 200 is never returned for a failed signature', async (t) => {
  const { app, database } = await build(t, {}, { clock: { now: () => new Date(at * 1000) } })
  const bytes = Buffer.from(JSON.stringify(charge))
  const good = sign(bytes, { time: at })
  const headers: [string, string][] = [
    ['another secret', sign(bytes, { time: at, secret: 'whsec_another_secret' })],
    ['no header', ''],
    ['no t', good.replace(/^t=\d+,/, '')],
    ['another time', good.replace(/^t=\d+/, `t=${at + 1}`)],
    ['both faults: the signature is checked before the time', `t=1,v1=${'00'.repeat(32)}`],
  ]
  const refused = { statusCode: 400, body: 'bad signature' }
  for (const [name, header] of headers) {
    const answer = await send(app, bytes, { headers: { 'webhook-signature': header } })
    t.match(answer, refused, name)
    t.match(answer.headers, { 'content-type': /^text\/plain/ })
  }
  t.match(await app.inject({ method: 'POST', url: path, payload: charge }), refused, 'unsigned')
  t.match(await app.inject({ method: 'POST', url: path }), refused, 'no body')
  const again = JSON.stringify(charge, null, 1)
  const reserialised = await send(app, again, { headers: { 'webhook-signature': good } })
  t.match(reserialised, refused, 'a re-serialized body')
  const broken = await send(app, '{"id":', { headers: { 'webhook-signature': good } })
  t.match(broken, refused, 'no JSON parser runs before verification')
  t.strictSame(await countRows(database), nothingRecorded)
  t.match(await send(app, bytes, { time: at }), { statusCode: 200 }, 'the correct signature passes')
})

t.test('a timestamp more than 300 seconds away is outside the tolerance', async (t) => {
  const { app, database } = await build(t, {}, { clock: { now: () => new Date(at * 1000) } })
  for (const time of [at - 301, at + 301]) {
    const answer = await send(app, charge, { time })
    t.match(
      answer,
      { statusCode: 400, body: 'timestamp outside tolerance' },
      `t = now ${time - at}`,
    )
  }
  t.strictSame(await countRows(database), nothingRecorded)
  for (const time of [at - 300, at + 300]) {
    t.match(await send(app, { ...charge, id: `evt_${time}` }, { time }), { body: 'recorded' })
  }
})

t.test('every configured secret verifies, for rotation', async (t) => {
  const secrets = ['whsec_the_new_secret', 'whsec_the_old_secret']
  const { app, database } = await build(t, { BILLING_WEBHOOK_SECRETS: secrets.join(',') })
  for (const [index, secret] of secrets.entries()) {
    t.match(await send(app, { ...charge, id: `evt_${index}` }, { secret }), { statusCode: 200 })
  }
  const { rows } = await database.admin.query(
    'SELECT event_id, secret_index FROM received_events ORDER BY event_id',
  )
  t.match(rows, [{ secret_index: 0 }, { secret_index: 1 }])
})

t.test('a signed body that is not an event is 400', async (t) => {
  const { app, database } = await build(t)
  const bodies: (Buffer | string | object)[] = [
    '',
    '{',
    'null',
    '[]',
    '"evt_1"',
    '\ufeff{"id":"evt_1","type":"x"}',
    Buffer.from([0x7b, 0xff, 0x7d]),
    {},
    { id: 'evt_1' },
    { type: 'x' },
    { ...charge, id: 1 },
    { ...charge, id: '' },
    { ...charge, id: null },
    { ...charge, id: 'x'.repeat(256) },
    { ...charge, id: 'a\0b' },
    { ...charge, type: null },
    { ...charge, type: ['charge.succeeded'] },
    '{"__proto__":{"id":"evt_1","type":"charge.succeeded"}}',
  ]
  for (const [index, body] of bodies.entries()) {
    const answer = await send(app, body)
    t.match(answer, { statusCode: 400, body: 'malformed event' }, `shape ${index}`)
    t.match(answer.headers, { 'content-type': /^text\/plain/ })
  }
  t.strictSame(await countRows(database), nothingRecorded)
  const doubled = '{"id":"evt_0","id":"evt_1","type":"charge.succeeded"}'
  t.match(await send(app, doubled), { statusCode: 200 }, 'the last of duplicate keys counts')
  const { rows } = await database.admin.query('SELECT event_id FROM processed_events')
  t.strictSame(rows, [{ event_id: 'evt_1' }])
})

/** Headers that proxies, generated clients and people send, which say nothing about the signature. */
const irrelevant: Record<string, string>[] = [
  { 'content-type': 'application/json; charset=utf-8' },
  { 'content-type': 'application/json,application/json' },
  { 'content-type': 'application/json, application/json; charset=utf-8' },
  { 'content-type': 'json' },
  { 'content-type': '' },
  { 'content-type': ' ' },
  { 'content-type': '/' },
  { 'content-type': ';charset=utf-8' },
  { 'content-type': 'application/json; charset' },
  { 'content-type': '*/*' },
  { 'content-type': 'text/plain' },
  { 'content-type': 'multipart/form-data' },
  { 'content-type': 'application/x-www-form-urlencoded' },
  { 'content-type': 'x/y' },
  { 'content-encoding': '' },
  { 'content-encoding': 'Identity' },
  { 'content-encoding': 'identity, identity' },
  { 'content-language': '-' },
  { accept: 'text/html' },
  { accept: '' },
  { 'accept-encoding': 'x' },
  { 'accept-version': '9.x' },
  { authorization: 'Bearer made-up' },
  { cookie: 'sid=a; sid=b' },
  { origin: 'null' },
  { 'sec-fetch-site': 'cross-site' },
  { 'idempotency-key': '' },
  { 'if-match': '*' },
  { 'if-none-match': '*' },
  { traceparent: 'malformed' },
  { 'x-forwarded-proto': 'https,http' },
  { 'x-http-method-override': 'DELETE' },
  { te: 'trailers' },
  { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' },
]

t.test('the signature over the bytes decides, and no other header', async (t) => {
  const { app, database } = await build(t)
  for (const [index, headers] of irrelevant.entries()) {
    const event = { ...charge, id: `evt_${index}` }
    const name = JSON.stringify(headers)
    const answer = await send(app, event, { headers })
    t.match(answer, { statusCode: 200, body: 'recorded' }, name)
    const forged = await send(app, event, { headers, secret: 'whsec_another' })
    t.match(forged, { statusCode: 400, body: 'bad signature' }, `${name}, forged`)
  }
  t.equal((await countRows(database)).known, irrelevant.length)
})

t.test('events of real clients are recorded over a socket', async (t) => {
  const { app, database } = await build(t)
  const address = await app.listen({ port: 0 })
  const run = promisify(execFile)
  const variants = [
    [],
    ['-H', 'Content-Type: application/json,application/json'],
    ['-H', 'Content-Type;'],
    ['-H', 'Content-Type:'],
    ['-H', 'Transfer-Encoding: chunked'],
    ['-H', 'Expect: 100-continue'],
    ['--http1.0'],
    ['-H', 'Connection: Upgrade, HTTP2-Settings', '-H', 'Upgrade: h2c', '-H', 'HTTP2-Settings: AA'],
    ['-H', 'Content-Type: application/json', '-H', 'Content-Type: application/json'],
  ]
  for (const [index, options] of variants.entries()) {
    const body = JSON.stringify({ ...charge, id: `evt_${index}` })
    const signature = `webhook-signature: ${sign(Buffer.from(body))}`
    const output = ['-sS', '--max-time', '10', '-w', ' %{http_code}']
    const args = [...output, '-H', signature, '--data-binary', body, ...options, address + path]
    const { stdout } = await run('curl', args)
    t.equal(stdout, 'recorded 200', options.join(' '))
  }
  t.equal((await countRows(database)).known, variants.length)
})

t.test('a body whose bytes are encoded is 415', async (t) => {
  const { app, database } = await build(t)
  for (const encoding of ['gzip', 'br', 'deflate', 'identity, gzip', 'x']) {
    const headers = { 'content-encoding': encoding }
    t.match(
      await send(app, { ...charge, id: encoding }, { headers }),
      { statusCode: 415, body: 'content-encoding is not accepted' },
      encoding,
    )
  }
  t.strictSame(await countRows(database), nothingRecorded)
})

t.test('a body over 1 MiB is 413, one of exactly 1 MiB is not', async (t) => {
  const { app, database } = await build(t)
  const largest = JSON.stringify({ ...charge, padding: '' })
  const padded = (length: number) =>
    JSON.stringify({ ...charge, padding: 'x'.repeat(length - largest.length) })
  const over = await send(app, padded(1_048_577))
  t.equal(over.statusCode, 413)
  t.match(over.headers, { 'content-type': /^text\/plain/ })
  t.strictSame(await countRows(database), nothingRecorded)
  t.equal((await send(app, padded(1_048_576))).statusCode, 200)
})

t.test('no cookie is set or read', async (t) => {
  const built = await build(t)
  const { app, database } = built
  const { cookie } = await signIn(built, await createUser(database))
  const sessions = 'SELECT last_seen_at, expires_at FROM sessions'
  const before = (await database.admin.query(sessions)).rows
  for (const value of [cookie, 'sid=garbage', 'sid=a; sid=b']) {
    const answer = await send(
      app,
      { ...charge, id: value.slice(0, 9) },
      { headers: { cookie: value } },
    )
    t.equal(answer.statusCode, 200)
    t.notOk(answer.headers['set-cookie'])
  }
  const unsigned = await app.inject({ method: 'POST', url: path, headers: { cookie } })
  t.match(
    unsigned,
    { statusCode: 400, body: 'bad signature' },
    'a session does not replace the signature',
  )
  t.strictSame((await database.admin.query(sessions)).rows, before)
})

t.test('only POST is allowed', async (t) => {
  const { app } = await build(t)
  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'] as const) {
    const answer = await app.inject({ method, url: path })
    t.equal(answer.statusCode, 405, method)
    t.equal(answer.headers.allow, 'POST, OPTIONS', method)
  }
})

t.test('neither a secret nor a signature is logged', async (t) => {
  const { app, log } = await build(t)
  await send(app, charge)
  await send(app, charge, { secret: 'whsec_another_secret' })
  const lines = log.join('\n')
  t.match(lines, 'evt_1')
  t.notMatch(lines, /whsec_|v1=/)
})
