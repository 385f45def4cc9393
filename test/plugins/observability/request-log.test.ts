import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { build } from '#test/support/app/app.ts'
import { createUser, signIn } from '#test/support/callers/callers.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

t.test('every response has the request id, and every request one log line', async (t) => {
  const { app, config, database, log } = await build(t)
  const user = await createUser(database)
  const { cookie } = await signIn({ config, database }, user)
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const json = { 'content-type': 'application/json', cookie }
  const large = JSON.stringify({ lineItems: 'x'.repeat(300_000) })
  const requests: [string, RequestInit, number, object][] = [
    ['/', {}, 200, { method: 'GET', path: '/', route: '/' }],
    ['/me', { headers: { cookie } }, 200, { route: '/me', ...user }],
    [
      '/orders/7',
      { headers: { cookie } },
      404,
      { path: '/orders/7', route: '/orders/:id', ...user },
    ],
    ['/orders/7', {}, 401, { route: '/orders/:id', userId: undefined }],
    ['/nowhere?with=query', {}, 404, { path: '/nowhere', route: 'unknown' }],
    ['/%E0', {}, 400, { path: '/%E0', route: 'unknown' }],
    ['/orders', { method: 'POST', headers: json, body: '{' }, 400, { route: '/orders' }],
    ['/orders', { method: 'POST', headers: json, body: large }, 413, { route: '/orders' }],
    ['/auth/callback?code=c', {}, 400, { path: '/auth/callback', route: '/auth/callback' }],
    ['/webhooks/billing', { method: 'POST', body: 'x' }, 400, { route: '/webhooks/billing' }],
  ]
  for (const [url, options, status, line] of requests) {
    const lines = log.length
    const answer = await fetch(origin + url, { ...options, redirect: 'manual' })
    await answer.text()
    const name = `${options.method ?? 'GET'} ${url} ${status}`
    t.equal(answer.status, status, name)
    const id = String(answer.headers.get('x-request-id'))
    t.match(id, uuid, name)
    while (!linesOf(log.slice(lines)).some(({ msg }) => msg === 'request')) await app.inject('/x')
    const written = linesOf(log.slice(lines)).filter(({ reqId, msg }) => {
      return reqId === id && msg === 'request'
    })
    const network = '127.0.0.0/24'
    t.match(written, [{ ...line, status, network, ms: Number, level: 'info' }], name)
  }
})

t.test('a request line has the id of the session or token, and no secret', async (t) => {
  const { app, config, database, log } = await build(t)
  const user = await createUser(database, { role: 'admin' })
  const { cookie } = await signIn({ config, database }, user)
  const made = await app.inject({
    method: 'POST',
    url: '/auth/tokens',
    headers: { cookie, 'sec-fetch-site': 'same-origin' },
    payload: { name: 'script' },
  })
  const { id: tokenId, token } = made.json<{ id: string; token: string }>()
  await app.inject({ url: '/me', headers: { authorization: `Bearer ${token}` } })
  const { rows } = await database.admin.query('SELECT id FROM sessions')
  const lines = linesOf(log).filter(({ msg }) => msg === 'request')
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
    linesOf(log).findLast(({ msg }) => msg === 'request'),
    { path: template, route: template },
  )
  t.notMatch(log.join(''), /ada/)
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
