import { createRemoteJWKSet, jwtVerify } from 'jose'
import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { codeBlocks, readPage } from '../page.ts'
import { proxies, startBehind } from './running-proxy.ts'

/*
 * The proxies of docs/beside-your-app.md with their own configuration, between a client, Gatehouse and
 * an app that records what reaches it.
 */

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
    const { test, origin, send, received } = await startBehind(t, proxy)
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
          'post:read,post:write,order:read,order:write,document:read,document:write,invoice:read',
      })
      const keys = createRemoteJWKSet(new URL(`${origin}/.well-known/jwks.json`))
      const rules = { issuer: origin, audience: origin }
      t.equal((await jwtVerify(String(token), keys, rules)).payload.sub, String(user.userId))
    }
  })

  t.test(`${proxy.name}: no header of the family comes from a client`, { skip }, async (t) => {
    const { test, send, received } = await startBehind(t, proxy)
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
    const { test, origin, send, count } = await startBehind(t, proxy)
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
    const { test, origin, send, received, count } = await startBehind(t, proxy)
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
