import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { codeBlocks, readPage } from '../page.ts'
import { type BesideProxy, proxies, startBefore } from './running-proxy.ts'

/* What an ordinary app sends and gets, through the proxies of docs/beside-your-app.md. */

const evil = 'https://evil.example'
const megabytes = 100
const preflightFences: Record<string, string> = { Caddyfile: 'caddyfile', 'nginx.conf': 'nginx' }
const chunk = Buffer.alloc(1_048_576, 'a')

for (const proxy of proxies) {
  const skip = !proxy.isInstalled && `${proxy.name} is not installed on this machine`

  t.test(
    `${proxy.name}: a WebSocket opens for a person on our origin only`,
    { skip },
    async (t) => {
      const { app, origin, open, cookie } = await setUp(t, proxy)
      for (const headers of [
        { cookie, origin },
        { cookie, origin, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'websocket' },
      ]) {
        t.strictSame(await open(headers), { status: 101, first: `hello ${app.user()}` })
      }
      const opened = app.opened()
      for (const [what, status, headers] of [
        ['another site', 403, { cookie, origin: evil }],
        ['another site, by fetch metadata', 403, { cookie, 'sec-fetch-site': 'cross-site' }],
        ['no session', 401, { origin }],
        [
          'a token of the app, from another site',
          403,
          { cookie, origin: evil, authorization: 'Bearer x' },
        ],
        ['no session, and a token of the app', 401, { origin, authorization: 'Bearer x' }],
      ] as const) {
        t.equal((await open(headers)).status, status, what)
      }
      t.equal(app.opened(), opened)
    },
  )

  t.test(`${proxy.name}: no other protocol is switched to`, { skip }, async (t) => {
    const { open, send, cookie } = await setUp(t, proxy)
    for (const upgrade of ['h2c', 'websocket, h2c', 'TLS/1.0']) {
      const headers = {
        cookie,
        upgrade,
        connection: 'Upgrade, HTTP2-Settings',
        'http2-settings': '',
      }
      t.equal((await open(headers)).status, 200, upgrade)
      const seen = JSON.parse((await send('GET', '/seen', headers)).body)
      t.equal(seen.headers.upgrade, undefined, upgrade)
    }
  })

  t.test(`${proxy.name}: a stream arrives while the app still writes it`, { skip }, async (t) => {
    const { app, port, cookie } = await setUp(t, proxy)
    const sent = request({
      port,
      host: '127.0.0.1',
      path: '/stream',
      headers: { host: `localhost:${port}`, cookie },
    })
    sent.end()
    const [response]: [IncomingMessage] = (await once(sent, 'response')) as [IncomingMessage]
    const [first] = await once(response, 'data')
    t.equal(String(first), 'first\n')
    app.goOn()
    t.equal(await text(response), 'second\n')
  })

  t.test(
    `${proxy.name}: an upload of ${megabytes} MiB passes, with a session`,
    { skip },
    async (t) => {
      const { app, port, origin, cookie } = await setUp(t, proxy)
      const upload = async (headers: Record<string, string>, size: number) => {
        const sent = request({
          port,
          host: '127.0.0.1',
          method: 'POST',
          path: '/upload',
          headers: { host: `localhost:${port}`, ...headers },
        })
        const answer = once(sent, 'response') as Promise<[IncomingMessage]>
        // A server that refuses may close the connection before all is sent.
        sent.on('error', () => {})
        Readable.from(
          (function* () {
            for (let n = 0; n < size; n++) yield chunk
          })(),
        ).pipe(sent)
        const [response] = await answer
        return { status: response.statusCode, body: await text(response) }
      }
      const all = String(megabytes * chunk.length)
      const known = { cookie, origin, 'content-length': all }
      t.strictSame(await upload(known, megabytes), { status: 200, body: all })
      const chunked = { cookie, origin, 'transfer-encoding': 'chunked' }
      t.strictSame(await upload(chunked, megabytes), { status: 200, body: all })
      const uploads = app.uploads()
      t.equal((await upload({ origin, 'content-length': String(chunk.length) }, 1)).status, 401)
      t.equal(app.uploads(), uploads)
    },
  )

  t.test(`${proxy.name}: HEAD and OPTIONS are asked about like GET`, { skip }, async (t) => {
    const { app, send, cookie } = await setUp(t, proxy)
    for (const method of ['HEAD', 'OPTIONS']) {
      const answer = await send(method, '/seen', { cookie })
      t.strictSame([answer.status, answer.headers['x-method']], [200, method])
      const seen = app.seen()
      const refused = await send(method, '/seen', { accept: 'text/html' })
      t.strictSame([refused.status, refused.headers.location], [401, undefined], method)
      t.equal(app.seen(), seen, method)
    }
  })

  t.test(`${proxy.name}: a preflight does not reach the app`, { skip }, async (t) => {
    const { app, send } = await setUp(t, proxy)
    const preflight = { origin: evil, 'access-control-request-method': 'DELETE' }
    const answer = await send('OPTIONS', '/seen', preflight)
    t.equal(answer.status, 401)
    t.equal(answer.headers['access-control-allow-origin'], undefined)
    t.equal(app.seen(), 0)
  })

  t.test(`${proxy.name}: connections are used again`, { skip }, async (t) => {
    const { app, test, send, cookie } = await setUp(t, proxy)
    let asked = 0
    test.app.server.on('connection', () => asked++)
    const questions = 10
    for (let n = 0; n < questions; n++) await send('GET', '/seen', { cookie })
    t.ok(asked < questions / 2, `${asked} connections to Gatehouse`)
    t.ok(app.connections() < questions / 2, `${app.connections()} to the app`)
  })

  t.test(`${proxy.name}: headers that a client names in Connection arrive`, { skip }, async (t) => {
    const { app, send, cookie } = await setUp(t, proxy)
    for (const connection of [
      'Gatehouse-Identity',
      'close, gatehouse-identity, Gatehouse-User',
      'keep-alive,Gatehouse-Identity,Gatehouse-Role',
    ]) {
      const { status, body } = await send('GET', '/seen', { cookie, connection })
      t.equal(status, 200, connection)
      const { headers } = JSON.parse(body)
      t.match(headers['gatehouse-identity'], /^[\w-]+\.[\w-]+\.[\w-]+$/, connection)
      t.match(headers, { 'gatehouse-user': app.user(), 'gatehouse-role': 'editor' }, connection)
    }
  })

  t.test(`${proxy.name}: what Gatehouse refuses is no error of the proxy`, { skip }, async (t) => {
    const { app, test, send, cookie } = await setUp(t, proxy, { RATE_LIMIT_VERIFY: '4/60' })
    const { token } = await (await owner(test)).make()
    const ofApp = await send('GET', '/seen', { cookie, authorization: 'Bearer ey.ey.x' })
    t.equal(JSON.parse(ofApp.body).headers.authorization, 'Bearer ey.ey.x', 'the app has its token')
    const both = { cookie, authorization: `Bearer ${token}` }
    t.equal((await send('GET', '/seen', both)).status, 400, 'two people at once')
    const long = await send('GET', '/seen', { cookie, 'x-of-app': 'a'.repeat(7_000) })
    t.equal(JSON.parse(long.body).headers['x-of-app'].length, 7_000)
    const longest = {
      cookie,
      accept: 'a'.repeat(7_000),
      referer: 'b'.repeat(7_000),
      origin: 'c'.repeat(7_000),
    }
    t.equal((await send('GET', '/seen', longest)).status, 431)
    await send('GET', '/seen', { cookie })
    await send('GET', '/seen', { cookie })
    const seen = app.seen()
    const limited = await send('GET', '/seen', { cookie })
    t.equal(limited.status, 429)
    t.match(limited.headers['retry-after'], /^\d+$/)
    t.equal(app.seen(), seen)
    await test.app.close()
    const none = await send('GET', '/seen', { cookie })
    t.ok([502, 503].includes(Number(none.status)), `without Gatehouse: ${none.status}`)
    t.equal(app.seen(), seen)
  })

  t.test(`${proxy.name}: deep links return, scripts are not redirected`, { skip }, async (t) => {
    const { app, origin, send } = await setUp(t, proxy)
    const html = { accept: 'text/html' }
    const login = `${origin}/auth/login?return_to=%2Forders%2F9%3Fx%3D1`
    const page = await send('GET', '/orders/9?x=1', { ...html, 'sec-fetch-mode': 'navigate' })
    t.strictSame([page.status, page.headers.location], [302, login])
    for (const script of [
      { 'sec-fetch-mode': 'cors' },
      { 'x-requested-with': 'XMLHttpRequest' },
      { 'hx-request': 'true' },
      { 'turbo-frame': 'list' },
      { 'x-turbo-request-id': '1' },
    ]) {
      const referer = `${origin}/orders/9?x=1`
      const answer = await send('GET', '/orders/9/rows', { ...html, referer, ...script })
      t.strictSame([answer.status, answer.headers.location], [401, undefined])
      t.equal(answer.headers.link, `<${login}>; rel="authenticate"`)
    }
    for (const path of [
      '//evil.example/',
      '/%2f%2fevil.example',
      '/%5cevil.example',
      '/%09/evil.example',
    ]) {
      const { headers } = await send('GET', path, html)
      t.ok(
        [undefined, `${origin}/auth/login`].includes(headers.location),
        `${path}: ${headers.location}`,
      )
    }
    t.equal(app.seen(), 0)
  })
}

for (const proxy of proxies.filter(({ file }) => file in preflightFences)) {
  const skip = !proxy.isInstalled && `${proxy.name} is not installed on this machine`

  t.test(
    `${proxy.name}: with the addition, a preflight and nothing else passes`,
    { skip },
    async (t) => {
      const edit = await preflightEdit(proxy.file)
      const { app, send } = await setUp(t, proxy, {}, edit)
      const preflight = { origin: evil, 'access-control-request-method': 'DELETE' }
      const forged = { 'gatehouse-identity': 'forged', 'gatehouse-user': '1' }
      const answer = await send('OPTIONS', '/orders/9', { ...preflight, ...forged })
      t.equal(answer.status, 200)
      const { headers } = JSON.parse(answer.body)
      t.strictSame(
        Object.keys(headers).filter((name) => name.startsWith('gatehouse')),
        [],
      )
      const seen = app.seen()
      for (const method of ['GET', 'POST', 'DELETE', 'HEAD']) {
        t.equal((await send(method, '/orders/9', preflight)).status, 401, method)
      }
      for (const part of ['origin', 'access-control-request-method'] as const) {
        const { [part]: _left, ...others } = preflight
        t.equal((await send('OPTIONS', '/orders/9', others)).status, 401, `without ${part}`)
      }
      t.equal(app.seen(), seen)
    },
  )
}

/** Adds the lines of the page that let preflights pass. */
async function preflightEdit(file: string) {
  const page = await readPage('docs/beside-your-app.md')
  const additions = codeBlocks(page, preflightFences[file] ?? '').filter(
    (block) => block.includes('preflight') && !block.includes('auth_request'),
  )
  const places =
    file === 'nginx.conf' ? ['        auth_request /', '    # A page that'] : ['\t# Everything']
  return (config: string) =>
    places.reduce((text, place, n) => text.replace(place, () => `${additions[n]}${place}`), config)
}

/** A proxy with Gatehouse and an ordinary app behind it, and a person with a session. */
async function setUp(
  t: Test,
  proxy: BesideProxy,
  settings: Record<string, string> = {},
  edit?: (config: string) => string,
) {
  const app = await startApp(t)
  const { test, origin, port } = await startBefore(t, proxy, {
    app: app.port,
    ...(edit && { edit }),
    settings: { SIGN_IN_RETURN_TO: '/,/*', ...settings },
  })
  const user = await createUser(test.database, { role: 'editor' })
  const { cookie } = await signIn(test, user)
  return {
    app: { ...app, user: () => String(user.userId) },
    ...{ test, origin, port, cookie },
    send: (method: string, path: string, headers: Record<string, string>) =>
      send(port, method, path, headers),
    open: (headers: Record<string, string>) => openSocket(port, headers),
  }
}

async function startApp(t: Test) {
  let [connections, opened, uploads, seen] = [0, 0, 0, 0]
  let goOn = () => {}
  const server = createServer(async (message, response) => {
    if (message.url === '/stream') {
      response.write('first\n')
      goOn = () => response.end('second\n')
      return
    }
    if (message.url === '/upload') {
      uploads++
      return answerSize(message, response)
    }
    seen++
    const { method, headers } = message
    response.setHeader('x-method', method ?? '')
    response.end(JSON.stringify({ method, headers }))
  })
  server.on('connection', () => connections++)
  server.on('upgrade', (message, socket) => {
    if (message.headers.upgrade !== 'websocket') return socket.destroy()
    opened++
    const head =
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\r\n'
    return socket.end(`${head}hello ${message.headers['gatehouse-user']}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  const counts = { opened: () => opened, uploads: () => uploads, seen: () => seen }
  return { port: address.port, connections: () => connections, ...counts, goOn: () => goOn() }
}

async function answerSize(message: IncomingMessage, response: ServerResponse): Promise<void> {
  let size = 0
  for await (const part of message) size += part.length
  response.end(String(size))
}

async function send(port: number, method: string, path: string, headers: Record<string, string>) {
  const host = `localhost:${port}`
  const sent = request({ port, host: '127.0.0.1', method, path, headers: { host, ...headers } })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

/** The answer to a handshake, and what the app sends first. */
async function openSocket(port: number, headers: Record<string, string>) {
  const handshake = {
    host: `localhost:${port}`,
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  const sent = request({
    port,
    host: '127.0.0.1',
    path: '/live',
    headers: { ...handshake, ...headers },
  })
  sent.end()
  const opened = once(sent, 'upgrade') as Promise<[IncomingMessage, Readable, Buffer]>
  const refused = once(sent, 'response') as Promise<[IncomingMessage]>
  const answer = await Promise.race([opened, refused])
  const [response, socket, head] = answer as [IncomingMessage, Readable?, Buffer?]
  if (socket === undefined) {
    await text(response)
    return { status: response.statusCode }
  }
  return { status: response.statusCode, first: `${head}${await text(socket)}` }
}
