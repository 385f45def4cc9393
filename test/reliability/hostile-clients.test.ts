import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'

/*
 * Clients that send invalid requests to the public listener. Each gets a 4xx or a closed connection,
 * none counts as a server error, and other clients are served meanwhile.
 */

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: a\r\n${more}\r\n`
const post = (headers: string, body = '') =>
  `POST /posts HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${headers}\r\n${body}`
const chunked = 'transfer-encoding: chunked\r\n'

type Case = { name: string; text: string; status: string | RegExp }

const cases: readonly Case[] = [
  { name: 'a flood of headers', text: get('/', flood(2_000)), status: '431' },
  { name: 'one giant header', text: get('/', `x: ${'a'.repeat(100_000)}\r\n`), status: '431' },
  { name: 'a URL past every limit', text: get(`/${'a'.repeat(20_000)}`), status: '431' },
  { name: 'a long URL', text: get(`/orders/${'1'.repeat(12_000)}`), status: /4(00|01|04|14)/ },
  { name: 'a long query', text: get(`/?${'a=1&'.repeat(3_500)}`), status: /200|4\d\d/ },
  { name: 'percent signs that encode nothing', text: get('/orders/%zz%'), status: '400' },
  { name: 'no HTTP at all', text: 'junk\0\xff\r\n\r\n', status: '400' },
  { name: 'TLS on a plain port', text: '\x16\x03\x01\x02\x00\x01\x00', status: '400' },
  { name: 'HTTP/0.9', text: 'GET /\r\n\r\n', status: /200|400/ },
  { name: 'no host', text: 'GET / HTTP/1.1\r\n\r\n', status: '400' },
  { name: 'an unknown method', text: get('/').replace('GET', 'BREW'), status: '400' },
  { name: 'two lengths', text: post('content-length: 2\r\ncontent-length: 3\r\n'), status: '400' },
  {
    name: 'a length and chunks',
    text: post(`content-length: 2\r\n${chunked}`, '{}'),
    status: '400',
  },
  { name: 'a negative length', text: post('content-length: -1\r\n'), status: '400' },
  { name: 'chunks of no size', text: post(chunked, 'zz\r\n'), status: '400' },
  { name: 'a folded header', text: get('/', 'x: a\r\n b\r\n'), status: /200|400/ },
  {
    name: 'a giant content-length',
    text: post('content-length: 10000000000\r\n'),
    status: '413',
  },
  { name: 'deep JSON', text: post(...deep('[')), status: /400|401/ },
  { name: 'deeper JSON', text: post(...deep('{"a":')), status: /400|401/ },
]

t.test('an invalid request is 4xx or closes the connection', async (t) => {
  const { port, calm, cookie, failures } = await serve(t)
  for (const { name, text, status } of cases) {
    const signedIn = text.replace(
      'host: a\r\n',
      `host: a\r\ncookie: ${cookie}\r\nconnection: close\r\n`,
    )
    const answer = await talk(port, signedIn)
    t.match(answer.slice(0, 12), new RegExp(`^HTTP/1.1 (${toSource(status)})`), name)
    // Node itself answers a request without a host.
    if (name !== 'no host') t.match(answer, /\r\ncache-control: no-store\r\n/, name)
    await calm(name)
  }
  t.strictSame(failures(), [])
})

t.test(
  'garbage after a request closes the connection, pipelined requests are all answered',
  async (t) => {
    const { port, calm, failures } = await serve(t)
    const answer = await talk(port, `${get('/openapi.json')}${get('/')}\0junk\r\n\r\n`)
    t.equal(statusesOf(answer).at(-1), '400')
    const many = await talk(port, get('/nowhere').repeat(500) + get('/', 'connection: close\r\n'))
    t.equal(statusesOf(many).length, 501)
    await calm('pipelines')
    t.strictSame(failures(), [])
  },
)

t.test('an endless body is cut off at the body limit', async (t) => {
  const { port, calm, cookie, failures } = await serve(t)
  for (const path of ['/posts', '/webhooks/billing']) {
    const socket = await open(port)
    socket.write(post(`cookie: ${cookie}\r\n${chunked}`).replace('/posts', path))
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`
    let sent = 0
    const pump = () => {
      while (!socket.destroyed && sent < 1_000 && socket.write(chunk)) sent += 1
    }
    socket.on('drain', pump)
    pump()
    t.match(await everything(socket), /^HTTP\/1\.1 (413|400)/, path)
    t.ok(sent < 1_000, 'the rest was not read')
    await calm(path)
  }
  t.strictSame(failures(), [])
})

t.test('slow headers, slow bodies and idle connections time out', async (t) => {
  const { app, port, calm, cookie, failures } = await serve(t)
  t.ok(app.server.headersTimeout < app.server.requestTimeout, 'otherwise Node swaps the two')
  app.server.headersTimeout = 2_000
  app.server.requestTimeout = 3_000
  const silent = await Promise.all(Array.from({ length: 300 }, () => open(port)))
  const starts = [
    'G',
    get('/').slice(0, -2),
    post(`cookie: ${cookie}\r\ncontent-length: 9\r\n`, '{'),
  ]
  const slow = await Promise.all(starts.map((text) => open(port, text)))
  const drip = setInterval(() => slow[1]?.write('x: y\r\n'), 50)
  t.teardown(() => clearInterval(drip))
  await calm('while they hang on')
  const answers = await Promise.all([...slow, ...silent].map(everything))
  for (const [index, answer] of answers.entries()) {
    if (!/^(HTTP\/1\.1 (408|400) |$)/.test(answer)) t.fail(`${index}: ${answer}`)
  }
  await calm('afterwards')
  t.strictSame(failures(), [])
})

async function serve(t: Test) {
  const test = await build(t)
  const { app, database, log } = test
  const user = await createUser(database, { role: 'admin' })
  const { cookie } = await signIn(test, user)
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    app,
    cookie,
    port: Number(new URL(origin).port),
    /** A valid request is served. */
    calm: async (name: string) => {
      const answer = await fetch(`${origin}/me`, { headers: { cookie, connection: 'close' } })
      t.equal(answer.status, 200, `${name}: other clients are served`)
    },
    /** Logged errors, and responses with 5xx. */
    failures: () => log.filter((line) => /"level":"(error|fatal)"|"status":5\d\d/.test(line)),
  }
}

async function open(port: number, text = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => {}) // cut
  socket.write(text)
  return socket
}

async function talk(port: number, text: string): Promise<string> {
  return everything(await open(port, text))
}

/** Everything the server sends until the connection ends, in any way. */
async function everything(socket: Socket): Promise<string> {
  let text = ''
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part
  })
  await new Promise((resolve) => socket.once('close', resolve))
  return text
}

function statusesOf(text: string): string[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = '']) => status)
}

function flood(count: number): string {
  return Array.from({ length: count }, (_, n) => `x-${n}: ${'y'.repeat(20)}\r\n`).join('')
}

/** Headers and body of JSON with only opening brackets. */
function deep(opening: string): [string, string] {
  const body = opening.repeat(Math.floor(200_000 / opening.length))
  return [`content-length: ${body.length}\r\n`, body]
}

function toSource(status: string | RegExp): string {
  return typeof status === 'string' ? status : status.source
}
