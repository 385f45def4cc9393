import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { findFreePort } from '#src/demo/postgres/free-port.ts'
import { caddy, startCaddy } from '#test/release/caddy.ts'
import { build } from '#test/support/app/app.ts'
import { createUser, signIn } from '#test/support/callers/callers.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { findProgram } from '#test/support/processes/find-program.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'
import { startReceiver } from '#test/support/receiver/receiver.ts'
import { codeBlocks, readPage } from '../page.ts'

/*
 * The proxies of docs/beside-your-app.md with their own configuration, between a client, Gatehouse and
 * an app that records what reaches it.
 */

const nginx = findProgram('nginx')

type Ports = { proxy: number; gatehouse: number; app: number }

const proxies = [
  {
    name: 'Caddy',
    file: 'Caddyfile',
    isInstalled: caddy !== null,
    async start(t: Test, config: string, { proxy }: Ports) {
      await startCaddy(t, config.replace('app.example.com', `http://localhost:${proxy}`))
    },
  },
  {
    name: 'the Compose example',
    file: 'compose.yaml',
    isInstalled: caddy !== null,
    async start(t: Test, config: string, { proxy, gatehouse, app }: Ports) {
      const caddyfile: string = parse(config).configs.beside.content
      const local = caddyfile
        .replace('{$$DOMAIN}', `http://localhost:${proxy}`)
        .replaceAll('web-a:3000 web-b:3000', `127.0.0.1:${gatehouse}`)
        .replaceAll('app:8000', `127.0.0.1:${app}`)
      // The server of this test has no admin listener.
      await startCaddy(t, local.replaceAll(/^ *health_.*\n/gm, ''))
    },
  },
  {
    name: 'nginx',
    file: 'nginx.conf',
    isInstalled: nginx !== null,
    async start(t: Test, config: string, { proxy }: Ports) {
      const folder = await temporaryFolder(t)
      const server = config
        .replace('listen 443 ssl;', `listen 127.0.0.1:${proxy};`)
        .replaceAll(/^ *ssl_.*\n/gm, '')
        .replace('app.example.com', 'localhost')
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
        .join('\n')
      const main = `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
events {}
http {
access_log off;
${temporary}
${server}}\n`
      await writeFile(`${folder}/nginx.conf`, main)
      const args = ['-p', folder, '-e', 'stderr', '-c', `${folder}/nginx.conf`]
      await runProgram(t, args, {}, { program: nginx ?? '' })
    },
  },
]

t.test('the page shows the configurations unchanged', async (t) => {
  const page = await readPage('docs/beside-your-app.md')
  for (const [file, fence] of [
    ['Caddyfile', 'caddyfile'],
    ['nginx.conf', 'nginx'],
    ['traefik.yml', 'yaml'],
    ['envoy.yaml', 'yaml'],
  ] as const) {
    const config = await readPage(`docs/beside-your-app/${file}`)
    t.ok(codeBlocks(page, fence).includes(config), file)
  }
})

for (const proxy of proxies) {
  const skip = !proxy.isInstalled && `${proxy.name} is not installed on this machine`

  t.test(`${proxy.name}: what reaches the app says who sent it`, { skip }, async (t) => {
    const { test, origin, send, received } = await setUp(t, proxy)
    const email = 'ada@example.com'
    const user = await createUser(test.database, { role: 'editor', email, emailVerified: true })
    const { cookie } = await signIn(test, user)
    for (const method of ['GET', 'POST', 'DELETE']) {
      const url = '/orders/7?tab=%2e%2e&permission=user:manage'
      const body = method === 'POST' ? 'a=1' : ''
      const answer = await send(method, url, { cookie, origin, 'idempotency-key': 'k' }, body)
      t.equal(answer.status, 200, method)
      const { url: path, headers, body: bytes, method: as } = received()
      t.strictSame([as, path, String(bytes)], [method, url, body])
      const { 'gatehouse-identity': token, ...told } = family(headers)
      t.strictSame(told, {
        'gatehouse-user': String(user.userId),
        'gatehouse-tenant': user.tenantId,
        'gatehouse-role': 'editor',
        'gatehouse-email': email,
        'gatehouse-permissions':
          'post:read,post:write,order:read,order:write,invoice:read,document:read,document:write',
      })
      const keys = createRemoteJWKSet(new URL(`${origin}/.well-known/jwks.json`))
      const rules = { issuer: origin, audience: origin }
      t.equal((await jwtVerify(String(token), keys, rules)).payload.sub, String(user.userId))
    }
  })

  t.test(`${proxy.name}: no header of the family comes from a client`, { skip }, async (t) => {
    const { test, send, received } = await setUp(t, proxy)
    const user = await createUser(test.database)
    const { cookie } = await signIn(test, user)
    const names = ['user', 'tenant', 'role', 'email', 'permissions', 'plan', 'identity']
    const spellings = names.flatMap((name) => [
      `gatehouse-${name}`,
      `GATEHOUSE-${name.toUpperCase()}`,
      `gatehouse_${name}`,
      `Gatehouse_${name}`,
    ])
    for (const spelling of spellings) {
      const answer = await send('GET', '/', { cookie, [spelling]: 'forged' })
      t.equal(answer.status, 200, spelling)
      const { headers } = received()
      t.notOk(Object.values(headers).includes('forged'), spelling)
      t.equal(headers['gatehouse-role'], 'viewer', spelling)
      t.notOk(headers['gatehouse-plan'], `${spelling}: no plan`)
      t.notOk(headers['gatehouse-email'], `${spelling}: no address`)
    }
    const all = Object.fromEntries(spellings.map((spelling) => [spelling, 'forged']))
    t.equal((await send('GET', '/', all)).status, 401, 'nor do they replace a credential')
    t.equal((await send('GET', '/', { cookie, 'x-forwarded-uri': '/auth/login' })).status, 200)
    received()
  })

  t.test(`${proxy.name}: without a credential nothing reaches the app`, { skip }, async (t) => {
    const { test, origin, send, count } = await setUp(t, proxy)
    const html = { accept: 'text/html' }
    const api = await send('GET', '/dashboard', { accept: 'application/json' })
    t.equal(api.status, 401)
    t.equal(api.location, undefined)
    const page = await send('GET', '/dashboard?tab=2', html)
    t.equal(page.status, 302)
    t.equal(page.location, `${origin}/auth/login?return_to=%2Fdashboard`)
    const other = await send('GET', '/elsewhere', html)
    t.equal(other.location, `${origin}/auth/login`)
    for (const path of ['//evil.example/dashboard', '/%2F%2Fevil.example', '/\\evil.example']) {
      const { location } = await send('GET', path, html)
      t.equal(location, `${origin}/auth/login`, path)
    }
    t.equal((await send('POST', '/dashboard', html, 'a=1')).status, 401, 'a form')
    const { cookie } = await signIn(test, await createUser(test.database))
    await test.database.admin.query('DELETE FROM sessions')
    t.equal((await send('GET', '/', { cookie })).status, 401, 'a session that has ended')
    for (const path of ['/auth/../dashboard', '/auth/%2e%2e/dashboard', '/.well-known/../x']) {
      t.not((await send('GET', path, {})).status, 200, path)
    }
    t.equal(count(), 0)
  })

  t.test(`${proxy.name}: a form of another site does not reach the app`, { skip }, async (t) => {
    const { test, origin, send, received, count } = await setUp(t, proxy)
    const { cookie } = await signIn(test, await createUser(test.database))
    const evil = 'https://evil.example'
    const forged = [
      { origin: evil, 'sec-fetch-site': 'cross-site' },
      { origin: evil },
      { 'sec-fetch-site': 'same-site' },
      { origin: evil, 'x-forwarded-method': 'GET', 'x-original-method': 'GET' },
    ]
    for (const headers of forged) {
      for (const method of ['POST', 'PUT', 'DELETE']) {
        const { status } = await send(method, '/pay', { cookie, ...headers }, 'a=1')
        t.equal(status, 403, `${method} ${JSON.stringify(headers)}`)
      }
    }
    const socket = { upgrade: 'websocket', connection: 'Upgrade', 'sec-websocket-version': '13' }
    const handshake = { cookie, ...socket, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }
    t.equal((await send('GET', '/live', { ...handshake, origin: evil })).status, 403, 'a WebSocket')
    t.equal(count(), 0)
    t.equal((await send('POST', '/pay', { cookie, origin }, 'a=1')).status, 200, 'our own form')
    t.equal(received().method, 'POST')
    const link = await send('GET', '/', { cookie, 'sec-fetch-site': 'cross-site' })
    t.equal(link.status, 200, 'a link from another site')
    const { make } = await owner(test)
    const { token } = await make()
    const bearer = {
      authorization: `Bearer ${token}`,
      origin: evil,
      'sec-fetch-site': 'cross-site',
    }
    t.equal((await send('POST', '/pay', bearer, 'a=1')).status, 200, 'a token')
  })
}

/** The headers of the family that have a value. */
const family = (headers: object) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => /^gatehouse/.test(name) && value !== ''),
  )

/** Gatehouse, an app that answers 200 to everything, and the proxy before both. */
async function setUp(t: Test, { file, start }: (typeof proxies)[number]) {
  const receiver = await startReceiver((_request, response) => response.end('app'))
  t.teardown(() => receiver.close())
  const port = await findFreePort()
  const origin = `http://localhost:${port}`
  const test = await build(t, { BASE_URL: origin, SIGN_IN_RETURN_TO: '/,/dashboard' })
  const address = await test.app.listen({ host: '127.0.0.1', port: 0 })
  const gatehouse = Number(new URL(address).port)
  const config = (await readPage(`docs/beside-your-app/${file}`))
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${gatehouse}`)
    .replaceAll('127.0.0.1:8000', `127.0.0.1:${receiver.port}`)
  await start(t, config, { proxy: port, gatehouse, app: receiver.port })
  await untilListening(port)
  return {
    test,
    origin,
    send: (...sent: Sent) => send(port, ...sent),
    count: () => receiver.requests.length,
    /** The latest request that has reached the app. */
    received() {
      const latest = receiver.requests.at(-1)
      if (latest === undefined) throw new Error('Nothing has reached the app.')
      return latest
    },
  }
}

function untilListening(port: number): Promise<void> {
  return untilTrue(
    () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => resolve(true))
        socket.on('error', () => resolve(false))
        socket.on('connect', () => socket.destroy())
      }),
  )
}

type Sent = [method: string, path: string, headers: Record<string, string>, body?: string]

/** Sends the path as it is, which `fetch` would normalize. */
async function send(port: number, ...[method, path, headers, body = '']: Sent) {
  const host = `localhost:${port}`
  const length = body === '' ? {} : { 'content-length': String(body.length) }
  const sent = request({
    port,
    host: '127.0.0.1',
    method,
    path,
    headers: { host, ...length, ...headers },
  })
  const answer = new Promise<{ status: number | undefined; location: string | undefined }>(
    (resolve, reject) => {
      sent.on('error', reject)
      sent.on('response', async (response) => {
        await text(response)
        resolve({ status: response.statusCode, location: response.headers.location })
      })
    },
  )
  sent.end(body)
  return answer
}
