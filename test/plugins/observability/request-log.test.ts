import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { collectRoutes } from '#dev/testing/access/collected-routes.ts'
import { createUser, signIn } from '#dev/testing/people.ts'
import { createLogger } from '#src/observability/logger.ts'
import { signedEvent } from '#test/reliability/load.ts'
import { build } from '#test/support/app/app.ts'
import { untilTrue } from '#test/support/database/until.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

t.test(
  'every response has the request id, and every request one log line and its details',
  async (t) => {
    const { app, config, database, log } = await build(t)
    const user = await createUser(database)
    const { cookie } = await signIn({ config, database }, user)
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    const json = { 'content-type': 'application/json', cookie }
    const large = JSON.stringify({ lineItems: 'x'.repeat(300_000) })
    const requests: [string, RequestInit, number, string, object][] = [
      ['/', {}, 200, '/', { path: '/' }],
      ['/me', { headers: { cookie } }, 200, '/me', user],
      ['/orders/7', { headers: { cookie } }, 404, '/orders/:id', { path: '/orders/7', ...user }],
      ['/orders/7', {}, 401, '/orders/:id', { userId: undefined }],
      ['/nowhere?with=query', {}, 404, 'unknown', { path: '/nowhere' }],
      ['/%E0', {}, 400, 'unknown', { path: '/%E0' }],
      ['/orders', { method: 'POST', headers: json, body: '{' }, 400, '/orders', {}],
      ['/orders', { method: 'POST', headers: json, body: large }, 413, '/orders', {}],
      ['/auth/callback?code=c', {}, 400, '/auth/callback', { path: '/auth/callback' }],
      ['/webhooks/billing', { method: 'POST', body: 'x' }, 400, '/webhooks/billing', {}],
    ]
    for (const [url, options, status, route, details] of requests) {
      const lines = log.length
      const answer = await fetch(origin + url, { ...options, redirect: 'manual' })
      await answer.text()
      const { method = 'GET' } = options
      const name = `${method} ${url} ${status}`
      t.equal(answer.status, status, name)
      const id = String(answer.headers.get('x-request-id'))
      t.match(id, uuid, name)
      const written = () => linesOf(log.slice(lines)).filter(({ reqId }) => reqId === id)
      await untilTrue(async () => {
        await app.inject('/x')
        return written().some(({ msg }) => msg === 'request details')
      })
      const [line, more] = written().filter(({ msg }) => String(msg).startsWith('request'))
      t.match(
        line,
        { route: `${method} ${route}`, status, ms: Number, level: 'info', msg: 'request' },
        name,
      )
      t.match(more, { ...details, network: '127.0.0.0/24', level: 'debug' }, name)
    }
  },
)

t.test(
  'the line of a request has at most 200 bytes, and no other is written at info',
  async (t) => {
    const { built, routes } = await collectRoutes(() => build(t))
    const { app, config, database } = built
    const lines: string[] = []
    app.log.level = 'info'
    const longest = routes.map(({ method, url }) => `${method} ${url}`)
    const logger = createLogger('info', { write: (line) => void lines.push(line) })
    for (const route of longest) {
      const request = logger.child({ reqId: crypto.randomUUID() })
      request.info({ route, status: 500, ms: 99_999 }, 'request')
    }
    t.ok(lines.length > 100)
    for (const line of lines) t.ok(Buffer.byteLength(line.trimEnd()) <= 200, line)

    const user = await createUser(database, { role: 'admin', billingCustomer: 'cus_1' })
    const { cookie } = await signIn({ config, database }, user)
    const begun = built.log.length
    const asks = [
      ...['/', '/me', '/orders', '/posts', '/app/webhooks'].map((url) => ({
        url,
        headers: { cookie },
      })),
      signed('evt_1'),
      signed('evt_1'),
    ]
    for (const ask of asks) t.equal((await app.inject(ask)).statusCode, 200, ask.url)
    const bytes = Buffer.byteLength(built.log.slice(begun).join(''))
    t.ok(bytes <= asks.length * 201, `${bytes} bytes for ${asks.length} requests`)
  },
)

/** A billing event as its provider sends it. */
function signed(id: string) {
  const { path: url, headers = {}, body: payload = '' } = signedEvent(id)
  return { method: 'POST', url, headers, payload } as const
}

t.test('the details of a request have the id of the session or token, and no secret', async (t) => {
  const { app, config, database, log } = await build(t)
  const user = await createUser(database, { role: 'admin' })
  const { cookie } = await signIn({ config, database }, user)
  const made = await app.inject({
    method: 'POST',
    url: '/auth/tokens',
    headers: { cookie, 'sec-fetch-site': 'same-origin' },
    payload: { name: 'script', permissions: null },
  })
  const { id: tokenId, token } = made.json<{ id: string; token: string }>()
  await app.inject({ url: '/me', headers: { authorization: `Bearer ${token}` } })
  const { rows } = await database.admin.query('SELECT id FROM sessions')
  const lines = linesOf(log).filter(({ msg }) => msg === 'request details')
  t.match(lines, [
    { sessionId: rows[0].id, tokenId: undefined },
    { tokenId, sessionId: undefined },
  ])
  t.notOk(log.join('').includes(token))
  t.notOk(log.join('').includes(cookie))
})

t.test('a subject of a provider is not logged', async (t) => {
  const { app, config, database, log } = await build(t)
  const { cookie } = await signIn({ config, database }, await createUser(database))
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  const url = '/auth/identities/demo/ada%40example.com?again=1'
  await app.inject({ method: 'DELETE', url, headers })
  const template = '/auth/identities/:provider/:subject'
  t.match(
    linesOf(log).findLast(({ msg }) => msg === 'request details'),
    { path: template },
  )
  t.notMatch(log.join(''), /ada(@|%40)/, 'three letters alone may be part of an id')
})

t.test('a request that cannot be parsed is answered with an id, and logged', async (t) => {
  const { app, log } = await build(t)
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const cases: [string, number][] = [
    [`GET / HTTP/1.1\r\nhost: x\r\nlong: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    ['this is not HTTP\r\n\r\n', 400],
  ]
  for (const [bytes, status] of cases) {
    const socket = connect(Number(port), '127.0.0.1')
    let answer = ''
    socket.setEncoding('utf8').on('data', (text) => {
      answer += text
    })
    socket.on('error', () => {}) // the rest of the bytes may find it closed
    socket.write(bytes)
    await once(socket, 'close')
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    t.match(head, new RegExp(`^HTTP/1.1 ${status} `))
    const [, id] = /\r\nx-request-id: (\S+)/.exec(head) ?? []
    t.match(id, uuid)
    t.match(head, '\r\ncontent-type: application/problem+json\r\n')
    t.match(JSON.parse(body), { status, title: String, instance: id })
    t.match(
      linesOf(log).filter(({ reqId }) => reqId === id),
      [{ status, msg: 'request' }],
    )
  }
})

function linesOf(log: readonly string[]): Record<string, unknown>[] {
  return log.map((line) => JSON.parse(line))
}
