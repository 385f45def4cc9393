import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { build } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'

const origin = 'https://app.example'
const settings = {
  BASE_URL: 'https://gatehouse.example',
  CORS_ORIGINS: origin,
  RATE_LIMIT_API: '1000/60',
  RATE_LIMIT_SIGN_IN: '1000/60',
}

/** Sends these bytes over a socket, and reads until the server closes it. */
async function send(port: number, text: string, tail?: Promise<unknown>): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const received: Buffer[] = []
  socket.on('data', (chunk: Buffer) => received.push(chunk)).on('error', () => {})
  socket.write(text)
  await tail
  await once(socket, 'close')
  return Buffer.concat(received).toString()
}

function parse(answer: string) {
  const [head = '', body = ''] = answer.split('\r\n\r\n', 2)
  const [status = '', ...lines] = head.split('\r\n')
  const pairs = lines.map((line) => /^([^:]+): ?(.*)$/.exec(line)?.slice(1) ?? [])
  const headers = Object.fromEntries(pairs.map(([name = '', value]) => [name.toLowerCase(), value]))
  return { status: Number(status.split(' ')[1]), headers, body }
}

const common = `Host: x\r\nOrigin: ${origin}\r\nConnection: close\r\n`
const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\n${common}${headers}\r\n`
const post = (path: string, headers: string, body = '') =>
  `POST ${path} HTTP/1.1\r\n${common}${headers}\r\n${body}`

/** Every way in which Node and Fastify answer by themselves. */
const requests: Record<string, [status: number, text: string]> = {
  'not HTTP': [400, `nonsense\r\nOrigin: ${origin}\r\n\r\n`],
  'an unknown method': [400, `BREW / HTTP/1.1\r\n${common}\r\n`],
  'a header without a name': [400, `GET / HTTP/1.1\r\nOrigin: ${origin}\r\n: x\r\n\r\n`],
  'two lengths': [400, post('/orders', 'Content-Length: 1\r\nContent-Length: 2\r\n', 'x')],
  'no Host': [400, `GET /orders HTTP/1.1\r\nOrigin: ${origin}\r\nConnection: close\r\n\r\n`],
  'two Hosts': [400, get('/orders', 'Host: y\r\n')],
  'two Hosts that are equal': [400, get('/orders', 'HOST: x\r\n')],
  'an undecodable path': [400, get('/orders/%')],
  'an undecodable path of a page': [400, get('/app/%E0%A4%A')],
  'an undecodable path without a route': [400, get('/%zz')],
  'an undecodable parameter': [400, get('/orders/%FF')],
  'broken JSON': [
    401,
    post('/orders', 'Content-Type: application/json\r\nContent-Length: 1\r\n', '{'),
  ],
  'an unknown path': [404, get('/unknown')],
  'a method that the path does not have': [405, `PATCH /me HTTP/1.1\r\n${common}\r\n`],
  'a method that no path has': [404, `PURGE /unknown HTTP/1.1\r\n${common}\r\n`],
  'a part of the path that is too long': [414, get(`/orders/${'1'.repeat(3_061)}`)],
  'a part of an unknown path that is too long': [414, get(`/${'a'.repeat(4_000)}`)],
  'headers that are too long': [431, get('/', `Long: ${'a'.repeat(20_000)}\r\n`)],
  'an expectation that nobody knows': [401, get('/orders', 'Expect: 200-ok\r\n')],
}

/** What every response is said to have. */
function judge(t: Test, name: string, answer: ReturnType<typeof parse>) {
  t.match(
    answer.headers,
    {
      'content-security-policy': /default-src 'none'/,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'strict-transport-security': /max-age/,
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-store',
      'access-control-allow-origin': origin,
      'access-control-expose-headers': /ratelimit/,
      vary: /origin/,
      'ratelimit-policy': /^"[a-z-]+";q=1000;w=60$/,
      ratelimit: /^"[a-z-]+";r=\d+;t=\d+$/,
      'x-request-id': /^[0-9a-f-]{36}$/,
      'content-type': /^application\/problem\+json/,
    },
    `${name}: headers`,
  )
  t.match(JSON.parse(answer.body), {
    status: answer.status,
    instance: answer.headers['x-request-id'],
  })
}

async function listen(t: Test, more: Record<string, string> = {}) {
  const test = await build(t, { ...settings, ...more })
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = test.app.server.address() as { port: number }
  return { ...test, port }
}

t.test('answers that no route gives have the headers of all others', async (t) => {
  const { port, log } = await listen(t)
  for (const [name, [status, text]] of Object.entries(requests)) {
    const answer = parse(await send(port, text))
    t.equal(answer.status, status, name)
    judge(t, name, answer)
    const id = answer.headers['x-request-id']
    t.ok(
      log.some((line) => line.includes(`"reqId":"${id}"`)),
      `${name}: is logged`,
    )
  }
})

t.test('so have the answers of Fastify to a body, of a failure and of an overload', async (t) => {
  const test = await listen(t)
  const { token } = await (await owner(test, { role: 'admin' })).make()
  const json = `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\n`
  const text = `Authorization: Bearer ${token}\r\nContent-Type: text/plain\r\n`
  const rows: [name: string, status: number, text: string][] = [
    ['broken JSON', 400, post('/posts', `${json}Content-Length: 1\r\n`, '{')],
    ['a length that is not that of the body', 400, post('/posts', `${json}Content-Length: x\r\n`)],
    ['too large', 413, post('/posts', `${json}Content-Length: 300000\r\n`)],
    ['another type', 415, post('/posts', `${text}Content-Length: 1\r\n`, 'x')],
    [
      'another type that is none',
      415,
      post('/posts', `${text.replace('/', '')}Content-Length: 1\r\n`, 'x'),
    ],
    ['encoded', 415, post('/posts', `${json}Content-Encoding: gzip\r\nContent-Length: 1\r\n`, 'x')],
    ['a provider that is down', 503, get('/auth/login')],
  ]
  for (const [name, status, request] of rows) {
    const answer = parse(await send(test.port, request))
    t.equal(answer.status, status, name)
    judge(t, name, answer)
  }
  await test.database.admin.query('ALTER TABLE posts RENAME TO lost')
  const failed = parse(await send(test.port, get('/posts', `Authorization: Bearer ${token}\r\n`)))
  t.equal(failed.status, 500, 'a failure')
  judge(t, 'a failure', failed)
})

t.test('so has the answer to a request that does not arrive', async (t) => {
  const { app, port } = await listen(t)
  app.server.headersTimeout = 100
  const answer = parse(await send(port, `GET / HTTP/1.1\r\n${common}`))
  t.equal(answer.status, 408)
  const { 'access-control-allow-origin': allowed, ...headers } = answer.headers
  t.equal(allowed, undefined, 'its origin is not known')
  const known = {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'ratelimit',
  }
  judge(t, 'a slow request', { ...answer, headers: { ...headers, ...known } })
})

t.test('and the answer beyond the connections of an address', async (t) => {
  const { port } = await listen(t, { MAX_CONNECTIONS_PER_ADDRESS: '1' })
  const first = connect(port, '127.0.0.1')
  t.teardown(() => first.destroy())
  await once(first, 'connect')
  const answer = parse(await send(port, ''))
  t.equal(answer.status, 429)
  t.equal(answer.headers['retry-after'], '5')
  const known = {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'ratelimit',
  }
  judge(t, 'one connection too many', { ...answer, headers: { ...answer.headers, ...known } })
})

t.test('requests that cannot be routed count for the limit of their address', async (t) => {
  const { port } = await listen(t, { RATE_LIMIT_API: '2/60' })
  const statuses: number[] = []
  for (const path of ['/%', '/orders/%FF', '/%', `/${'a'.repeat(4_000)}`]) {
    statuses.push(parse(await send(port, get(path))).status)
  }
  t.strictSame(statuses, [400, 400, 429, 429])
})

t.test('a path that the router cannot read is named in the log as it came', async (t) => {
  const { port, log } = await listen(t)
  await send(port, get('/orders/%?code=secret'))
  t.ok(log.some((line) => line.includes('"path":"/orders/%"')))
  t.notMatch(log.join(''), 'secret')
})
