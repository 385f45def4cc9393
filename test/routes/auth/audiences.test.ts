import { createLocalJWKSet, jwtVerify } from 'jose'
import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import {
  type Browser,
  buildWithProvider,
  comeBack,
  type Journey,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

/* Several apps behind proxies: each has tokens of its own, and may have origins of its own. */

const base = 'http://localhost:3000'
const get = { 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/orders/9?x=1' }
const post = { ...get, 'x-forwarded-method': 'POST' }
const html = { accept: 'text/html,application/xhtml+xml' }

async function signInAt({ app, op }: Journey, browser: Browser, url: string) {
  const start = await visit(app, browser, url, { headers: html })
  return comeBack(app, browser, op.approve(new URL(String(start.headers.location))))
}

t.test('each of several apps gets tokens that no other accepts', async (t) => {
  const test = await build(t, { IDENTITY_AUDIENCE: 'orders,https://reports.example.com,wiki' })
  const { cookie } = await signIn(test, await createUser(test.database))
  const question = (query: string, headers: Record<string, string> = { cookie }) =>
    test.app.inject({ url: `/auth/verify${query}`, headers: { ...headers, ...get } })
  const keys = createLocalJWKSet((await test.app.inject({ url: '/.well-known/jwks.json' })).json())
  const audiences = ['orders', 'https://reports.example.com', 'wiki']
  for (const [query, own] of [
    ['', 'orders'],
    ['?audience=orders', 'orders'],
    ['?audience=https://reports.example.com', 'https://reports.example.com'],
    ['?audience=wiki', 'wiki'],
  ] as const) {
    const token = String((await question(query)).headers['gatehouse-identity'])
    t.equal((await jwtVerify(token, keys, { issuer: base, audience: own })).payload.aud, own)
    for (const audience of audiences.filter((name) => name !== own)) {
      await t.rejects(jwtVerify(token, keys, { issuer: base, audience }), {
        message: /"aud" claim/,
      })
    }
  }
  for (const query of [
    '?audience=',
    '?audience=other',
    '?audience=Orders',
    '?audience=orders,wiki',
    '?audience=orders&audience=wiki',
    `?audience=${base}`,
  ]) {
    const refused = await question(query)
    t.equal(refused.statusCode, 400, query)
    t.equal(refused.headers['gatehouse-identity'], undefined, query)
    t.equal((await question(query, {})).statusCode, 401, `${query}: identity first`)
  }
})

t.test('an audience with origins is only for requests to these', async (t) => {
  const orders = base
  const reports = 'http://localhost:8443'
  const audiences = `orders ${orders}, reports ${reports} http://localhost:9443, wiki`
  const settings = { IDENTITY_AUDIENCE: audiences, SIGN_IN_RETURN_TO: '/start,/*' }
  const test = await build(t, settings)
  const { cookie } = await signIn(test, await createUser(test.database))
  const question = (audience: string, headers: Record<string, string>) =>
    test.app.inject({ url: `/auth/verify?audience=${audience}`, headers })
  const hosts = ['localhost:3000', 'localhost:8443', 'localhost:9443', 'localhost', 'evil.example']
  const answered = async (audience: string) => {
    const statuses = hosts.map(async (host) => {
      const { statusCode, headers } = await question(audience, { cookie, host, ...get })
      t.equal(headers['gatehouse-identity'] !== undefined, statusCode === 204)
      return statusCode
    })
    return Promise.all(statuses)
  }
  t.strictSame(await answered('orders'), [204, 400, 400, 400, 400])
  t.strictSame(await answered('reports'), [400, 204, 204, 400, 400])
  t.strictSame(await answered('wiki'), [204, 204, 204, 204, 204], 'without origins at any')
  const unnamed = { cookie, host: 'localhost:8443', ...get }
  t.equal((await test.app.inject({ url: '/auth/verify', headers: unnamed })).statusCode, 400)

  const toReports = { host: 'localhost:8443', cookie, ...post }
  const status = async (headers: Record<string, string>) =>
    (await question('reports', { ...toReports, ...headers })).statusCode
  t.equal(await status({ origin: reports }), 204, 'a form of the app itself')
  t.equal(await status({ origin: orders }), 403, 'a form of the other app')
  t.equal(await status({ origin: 'http://localhost:9443' }), 403, 'of its other origin')
  t.equal(await status({ origin: orders, 'sec-fetch-site': 'same-site' }), 403)
  t.equal(await status({ origin: 'https://evil.example' }), 403)
})

t.test('a sign-in returns to the origin of the app that was opened', async (t) => {
  const reports = 'http://localhost:8443'
  const audiences = `orders ${base}, reports ${reports}`
  const journey = await buildWithProvider(t, {
    IDENTITY_AUDIENCE: audiences,
    SIGN_IN_RETURN_TO: '/start,/*',
  })
  const { app } = journey
  const open = (host: string, uri: string, more: Record<string, string> = {}) => {
    const headers = { ...html, host, ...get, 'x-forwarded-uri': uri, ...more }
    return app.inject({ url: '/auth/verify?audience=reports', headers })
  }
  const login = (target: string) =>
    `${base}/auth/login?${new URLSearchParams({ return_to: target })}`
  const deep = `${reports}/charts/2?x=1`
  const refused = await open('localhost:8443', '/charts/2?x=1')
  t.equal(refused.headers.location, login(deep))
  const script = await open('localhost:8443', '/data', {
    'sec-fetch-mode': 'cors',
    referer: deep,
  })
  t.equal(script.headers.link, `<${login(deep)}>; rel="authenticate"`)
  const browser = { cookie: '' }
  const end = await signInAt(journey, browser, String(refused.headers.location))
  t.match(end.body, `content="0;url=${deep}"`, 'by a page, because it is another origin')
  t.equal((await open('evil.example', '/charts/2')).headers.location, login('/charts/2'))
  for (const trick of [
    'http://localhost:9443/',
    'http://localhost:8443',
    'http://localhost:8443@evil.example/',
    'http://localhost:84430/',
    `${reports}//evil.example/`,
    `${reports}/%2Fevil.example/`,
    `${reports}/\\evil.example/`,
    `${reports}/a/../b`,
    `${reports}/a#b`,
    `https://localhost:8443/`,
  ]) {
    const other = await signInAt(journey, { cookie: '' }, login(trick))
    t.equal(other.headers.location, '/start', trick)
  }
})
