import { once } from 'node:events'
import { connect } from 'node:net'
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import Type from 'typebox'
import schemaCompilers from '#plugins/api/schema-compilers.ts'
import allowedMethods from '#plugins/http/allowed-methods.ts'
import errors, { answerError } from '#plugins/http/errors.ts'
import notFound from '#plugins/http/not-found.ts'
import { Problem } from '#src/http/problems.ts'
import { Line, PageQuery } from '#src/http/schemas.ts'
import { createLogger } from '#src/observability/logger.ts'

const leak = 'SELECT * FROM users WHERE password = hunter2'

async function build(t: Test, routes: (app: FastifyInstance) => void) {
  const log: string[] = []
  const loggerInstance: FastifyBaseLogger = createLogger('trace', {
    write: (line) => void log.push(line),
  })
  const app = Fastify({
    loggerInstance,
    disableRequestLogging: true,
    frameworkErrors: answerError,
  })
  t.teardown(() => app.close())
  await app.register(errors)
  await app.register(allowedMethods)
  await app.register(schemaCompilers)
  await app.register(notFound)
  routes(app)
  return { app, log }
}

/** One route per thing that is thrown. */
const throwing = (values: Record<string, unknown>) => (app: FastifyInstance) => {
  for (const [name, value] of Object.entries(values)) {
    app.get(`/${name}`, () => Promise.reject(value))
  }
}

t.test('a 5xx never says why, whatever was thrown', async (t) => {
  const values = {
    error: new Error(leak),
    foreign: Object.assign(new Error(leak), { statusCode: 400 }),
    teapot: Object.assign(new Error(leak), { statusCode: 418, code: 'UPSTREAM' }),
    odd: Object.assign(new Error(leak), { statusCode: 200, code: 'FST_ODD' }),
    text: leak,
    null: null,
    undefined: undefined,
    object: { statusCode: 400, message: leak },
  }
  const { app, log } = await build(t, throwing(values))
  for (const name of Object.keys(values)) {
    const answer = await app.inject(`/${name}`)
    t.equal(answer.statusCode, 500, name)
    t.match(answer.headers['content-type'], /^application\/problem\+json/, name)
    const { instance, ...rest } = answer.json()
    t.type(instance, 'string')
    const problem = { type: '/docs/errors/internal', title: 'Something went wrong' }
    t.same(rest, { ...problem, status: 500 }, name)
    const page = await app.inject({ url: `/${name}`, headers: { accept: 'text/html' } })
    t.equal(page.statusCode, 500)
    t.notMatch(page.body, /SELECT|hunter2|Error:|node_modules|\.ts:/, `${name} as a page`)
  }
  t.equal(log.length, 2 * Object.keys(values).length, 'each is logged once')
  t.ok(log.every((line) => JSON.parse(line).level === 'error'))
})

t.test('a 5xx is logged with its stack and without what hangs on the error', async (t) => {
  const error = Object.assign(new Error('broken', { cause: new Error('hunter1') }), {
    code: 'EBROKEN',
    query: 'hunter2',
    headers: { authorization: 'Bearer hunter3', cookie: 'sid=hunter4' },
  })
  const { app, log } = await build(t, throwing({ error }))
  const headers = { authorization: 'Bearer hunter5', cookie: 'sid=hunter6' }
  await app.inject({ url: '/error?token=hunter7', headers })
  const [line = ''] = log
  t.match(JSON.parse(line), { err: { message: 'broken', errorCode: 'EBROKEN', stack: String } })
  t.notMatch(line, /hunter/)
})

t.test('a value that the database refuses is 400, without its words (class 22)', async (t) => {
  const cause = Object.assign(new Error(leak), { code: '22021' })
  const error = new Error(leak, { cause })
  const { app, log } = await build(t, throwing({ error }))
  const answer = await app.inject('/error')
  t.equal(answer.statusCode, 400)
  t.match(answer.json(), { type: '/docs/errors/malformed', detail: undefined })
  t.notMatch(answer.body, /SELECT|hunter2/)
  t.match(JSON.parse(log.join('')), { level: 'warn', sqlState: '22021', route: '/error' })
  t.notMatch(log.join(''), /SELECT|hunter2/, 'the message of the server can quote the value')
})

t.test('a database that is read-only or asks to try again is 503 with Retry-After', async (t) => {
  for (const code of ['25006', '40P01', '40001', '57P01']) {
    const { app } = await build(t, throwing({ error: Object.assign(new Error(leak), { code }) }))
    const answer = await app.inject('/error')
    t.equal(answer.statusCode, 503, code)
    t.equal(answer.headers['retry-after'], '1')
  }
})

t.test('a refusal has its status, title and detail, and is not logged', async (t) => {
  const values = {
    forbidden: new Problem('forbidden'),
    busy: new Problem('unavailable', { detail: 'Later.', retryAfterSeconds: 30 }),
  }
  const { app, log } = await build(t, throwing(values))
  const forbidden = await app.inject('/forbidden')
  t.match(forbidden.json(), { title: 'Not allowed', status: 403 })
  t.notOk('retry-after' in forbidden.headers)
  t.notOk('detail' in forbidden.json())
  t.equal(log.length, 0)
  const busy = await app.inject('/busy')
  t.equal(busy.headers['retry-after'], '30')
  t.match(busy.json(), { status: 503, detail: 'Later.' })
})

t.test('a database that is unavailable is 503 with Retry-After', async (t) => {
  const values = {
    refused: Object.assign(new Error(leak), { code: 'ECONNREFUSED' }),
    nested: new Error(leak, { cause: { code: '57P01' } }),
    exhausted: new Error('timeout exceeded when trying to connect'),
    closing: Object.assign(new Error(leak), { code: 'FST_X', statusCode: 503 }),
  }
  const { app, log } = await build(t, throwing(values))
  for (const name of Object.keys(values)) {
    const answer = await app.inject(`/${name}`)
    t.equal(answer.statusCode, 503, name)
    t.equal(answer.headers['retry-after'], '1', name)
    t.same(Object.keys(answer.json()), ['type', 'title', 'status', 'instance'], name)
  }
  t.equal(log.length, Object.keys(values).length)
})

const Things = {
  params: Type.Object({ id: Type.String({ pattern: '^[0-9]+$' }) }),
  querystring: PageQuery,
  body: Type.Object(
    { name: Line(5), tags: Type.Optional(Type.Array(Type.String(), { maxItems: 50 })) },
    { additionalProperties: false },
  ),
}

async function buildThings(t: Test) {
  const { app } = await build(t, (app) =>
    app.post('/things/:id', { schema: Things }, async () => 'done'),
  )
  return (url: string, payload: object) => app.inject({ method: 'POST', url, payload })
}

t.test('a malformed request has every error, of the path, the body and the query', async (t) => {
  const send = await buildThings(t)
  const payload = { name: 'too long', tags: ['a', 7, 'b', null], 'a/b': 'hunter2' }
  const answer = await send('/things/x?limit=1000&sort=hunter2', payload)
  t.equal(answer.statusCode, 400)
  t.same(answer.json().errors, [
    { in: 'path', pointer: '/id', detail: 'must match ^[0-9]+$' },
    { in: 'body', pointer: '/a~1b', detail: 'is not a known field' },
    { in: 'body', pointer: '/name', detail: 'must have at most 5 characters' },
    { in: 'body', pointer: '/tags/1', detail: 'must be a string' },
    { in: 'body', pointer: '/tags/3', detail: 'must be a string' },
    { in: 'query', pointer: '/sort', detail: 'is not a known query parameter' },
    { in: 'query', pointer: '/limit', detail: 'must be a whole number from 1 to 100' },
  ])
  t.equal(
    answer.json().detail,
    '/id in the path must match ^[0-9]+$. The other errors are in `errors`.',
  )
  t.notMatch(answer.body, /too long|hunter2|1000/, 'no refused value is repeated')
})

t.test('the number of listed errors is bounded, as is a field name', async (t) => {
  const send = await buildThings(t)
  const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`f${index}`, 1]))
  const many = await send('/things/1', { name: 'a', ...fields })
  t.equal(many.json().errors.length, 20)
  const long = await send('/things/1', { name: 'a', ['n'.repeat(100_000)]: 1 })
  t.equal(long.json().errors.length, 1)
  t.ok(long.body.length < 1_000, `${long.body.length} characters`)
})

t.test('one error is the detail of the problem', async (t) => {
  const send = await buildThings(t)
  const missing = await send('/things/1', {})
  t.match(missing.json(), {
    detail: '/name in the body is required.',
    errors: [{ in: 'body', pointer: '/name', detail: 'is required' }],
  })
  const list = await send('/things/1', [])
  t.match(list.json(), {
    detail: 'The body must be an object.',
    errors: [{ in: 'body', pointer: '' }],
  })
})

t.test('errors of Fastify itself are problems too', async (t) => {
  const { app, log } = await build(t, (app) => {
    app.post('/', { bodyLimit: 8 }, async () => 'done')
    app.post('/texts', async () => 'done')
    app.get('/things/:id', async () => 'done')
  })
  const json = { 'content-type': 'application/json' }
  const statuses = {
    400: { method: 'POST', url: '/', headers: json, payload: '{' },
    413: { method: 'POST', url: '/', headers: json, payload: '{"a": 123456789}' },
    415: { method: 'POST', url: '/', headers: { 'content-type': 'a/b' }, payload: 'x' },
    404: { method: 'PUT', url: '/unknown' },
    405: { method: 'PUT', url: '/' },
  } as const
  for (const [status, request] of Object.entries(statuses)) {
    const answer = await app.inject(request)
    t.match(answer.headers['content-type'], /^application\/problem\+json/, status)
    t.match(answer.json(), { status: Number(status), instance: String })
    t.equal(answer.statusCode, Number(status))
  }
  const details = {
    '{': /^The body is not JSON/,
    '{"__proto__": 1}': /^The body is not JSON, or has a field `__proto__`/,
    '': /^The body is empty/,
  }
  for (const [payload, detail] of Object.entries(details)) {
    const answer = await app.inject({ method: 'POST', url: '/texts', headers: json, payload })
    t.match(answer.json(), { status: 400, detail }, payload)
  }
  t.notMatch((await app.inject('/%zz')).json().detail, 'zz', 'the path is not repeated')
  for (const url of ['/%zz', `/things/${'1'.repeat(200)}`]) {
    const answer = await app.inject(url)
    t.match(answer.headers['content-type'], /^application\/problem\+json/, url)
    t.match(answer.json(), { status: 400 })
  }
  t.match((await app.inject(statuses[415])).json(), { detail: /^Send JSON with/ })
  t.equal(log.length, 0)
})

t.test(
  'the 404 of a missing route differs from that of a missing object by its detail alone',
  async (t) => {
    const { app } = await build(t, throwing({ missing: new Problem('not-found') }))
    const ask = (url: string, accept: string) => app.inject({ url, headers: { accept } })
    const missing = await ask('/missing', 'application/json')
    const unknown = await ask('/unknown', 'application/json')
    const { detail, instance, ...rest } = unknown.json()
    t.equal(detail, 'This address does not exist: there is no such path.')
    t.strictSame({ ...missing.json(), instance }, { ...rest, instance })
    const length = { 'content-length': '' }
    t.same({ ...missing.headers, ...length }, { ...unknown.headers, ...length })
    const pages = [await ask('/missing', 'text/html'), await ask('/unknown', 'text/html')]
    t.strictSame(
      pages.map(({ statusCode }) => statusCode),
      [404, 404],
    )
    t.match(pages[0]?.body, 'This page does not exist, or you do not have access to it.')
    t.match(pages[1]?.body, detail)
  },
)

t.test('a browser gets a page in UTF-8, other clients JSON, with Vary: Accept', async (t) => {
  const hostile = '<script>alert(1)</script>'
  const { app } = await build(t, throwing({ bad: new Problem('malformed', { detail: hostile }) }))
  const page = await app.inject({ url: '/bad', headers: { accept: 'text/html,*/*;q=0.8' } })
  t.equal(page.headers['content-type'], 'text/html; charset=utf-8')
  t.match(page.body, '&lt;script&gt;alert(1)&lt;/script&gt;')
  t.notMatch(page.body, /<script(?! src="\/assets\/)/i)
  t.equal(page.headers.vary, 'accept')
  for (const accept of ['application/json', '*/*', 'text/plain', '']) {
    const answer = await app.inject({ url: '/bad', headers: accept === '' ? {} : { accept } })
    t.match(answer.headers['content-type'], /^application\/problem\+json/, accept)
    t.equal(answer.headers.vary, 'accept')
  }
})

t.test('headers set by the handler are not part of the problem', async (t) => {
  const { app } = await build(t, (app) => {
    app.get(
      '/',
      { schema: { response: { '5xx': { type: 'object' } } } },
      async (_request, reply) => {
        reply.header('content-type', 'text/csv')
        throw new Error(leak)
      },
    )
  })
  const answer = await app.inject('/')
  t.match(answer.headers['content-type'], /^application\/problem\+json/)
  t.match(answer.json(), { status: 500, title: 'Something went wrong' })
})

t.test('a client that disconnects while sending the body is not a server error', async (t) => {
  const { app, log } = await build(t, (app) => app.post('/', async () => 'done'))
  const abandoned = new Promise<void>((resolve) => {
    app.addHook('onRequestAbort', async (_request) => resolve())
  })
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  const arrived = once(app.server, 'request')
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n')
  socket.write('Content-Length: 100\r\n\r\n{"half')
  await arrived
  socket.destroy()
  await abandoned
  t.notMatch(log.join(''), /"level":"error"/)
})
