import t, { type Test } from 'tap'
import { type CollectedRoute, collectRoutes } from '#dev/testing/access/collected-routes.ts'
import { createUser, signIn } from '#dev/testing/people.ts'
import { policy } from '#src/access/policy.ts'
import { build } from '#test/support/app/app.ts'
import { buildWithProvider } from '#test/support/provider/sign-in-journey.ts'

const origin = 'http://localhost:5173'
const tokenOrigin = 'https://tokens.example.com'
const others = [
  'http://localhost:5174',
  'http://localhost',
  'https://localhost:5173',
  'http://localhost:5173.evil.example',
  'http://localhost:5173/',
  'http://127.0.0.1:5173',
  `${origin}, ${origin}`,
  'null',
  tokenOrigin,
]
const ofApp = { origin, 'sec-fetch-site': 'same-site' }

function buildFor(t: Test, settings: Record<string, string> = {}) {
  return build(t, { APP_ORIGINS: origin, CORS_ORIGINS: tokenOrigin, ...settings })
}

/** Everything that people do through the API: no page, no route for operators or for the app's own token. */
function isForFrontEnd({ url, access, namesTenant }: CollectedRoute): boolean {
  if (namesTenant) return false
  if (typeof access !== 'object' || url === '/' || url.startsWith('/app/')) return false
  const { resource, action }: { resource?: unknown; action?: unknown } = { ...access }
  const rule = policy.find((one) => one.resource === resource && one.action === action)
  if (rule === undefined || rule.scope === 'operator' || rule.scope === 'app') return false
  return !['/auth/verify', '/oauth2/auth'].includes(url) && !/^\/(event-types|portal)\b/.test(url)
}

const pathOf = ({ url }: CollectedRoute) =>
  url.replace(':provider', 'demo').replace(/:\w+/g, '1').replace('*', 'x')
const isSafe = ({ method }: CollectedRoute) => ['GET', 'HEAD', 'OPTIONS'].includes(method)

t.test('a front end of a listed origin reads and writes with the cookie', async (t) => {
  const test = await buildFor(t)
  const { cookie } = await signIn(test, await createUser(test.database, { role: 'editor' }))
  const headers = { ...ofApp, cookie }
  const payload = { title: 'a', body: 'b' }
  const written = await test.app.inject({ method: 'POST', url: '/posts', headers, payload })
  const read = await test.app.inject({ url: '/posts?limit=1', headers })
  const refused = await test.app.inject({ url: '/posts/7', headers })
  t.same(
    [written, read, refused].map(({ statusCode }) => statusCode),
    [201, 200, 404],
  )
  for (const answer of [written, read, refused]) {
    t.equal(answer.headers['access-control-allow-origin'], origin)
    t.equal(answer.headers['access-control-allow-credentials'], 'true')
    t.match(answer.headers.vary, /\borigin\b/)
    const exposed = String(answer.headers['access-control-expose-headers']).split(', ')
    const needed = ['etag', 'retry-after', 'link', 'ratelimit', 'ratelimit-policy', 'x-request-id']
    t.same(
      needed.filter((name) => !exposed.includes(name)),
      [],
    )
    t.notOk(exposed.includes('set-cookie'))
  }
})

t.test('a preflight is answered without the database and without a cookie', async (t) => {
  const test = await buildFor(t)
  await test.app.ready()
  await test.database.admin.query('ALTER TABLE sessions RENAME TO gone')
  const answer = await test.app.inject({
    method: 'OPTIONS',
    url: '/orders/1',
    headers: { ...ofApp, 'access-control-request-method': 'PATCH' },
  })
  t.equal(answer.statusCode, 204)
  t.match(answer.headers, {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-allow-methods': 'GET, HEAD, PATCH',
    'access-control-max-age': '7200',
  })
  t.match(answer.headers.vary, /\borigin\b/)
  t.notMatch(answer.headers['access-control-allow-headers'], /cookie/)
})

t.test('a refusal of the rate limit can be read', async (t) => {
  const test = await buildFor(t, { RATE_LIMIT_API: '1/60' })
  const { cookie } = await signIn(test, await createUser(test.database, { role: 'editor' }))
  const headers = { ...ofApp, cookie }
  await test.app.inject({ url: '/me', headers })
  const answer = await test.app.inject({ url: '/me', headers })
  t.equal(answer.statusCode, 429)
  t.ok(answer.headers['retry-after'])
  t.equal(answer.headers['access-control-allow-credentials'], 'true')
})

t.test('the cookie is taken on the routes for front ends and on no other', async (t) => {
  const { built, routes } = await collectRoutes(() => buildFor(t))
  const { cookie } = await signIn(built, await createUser(built.database, { role: 'admin' }))
  const [marked, unmarked] = [
    routes.filter(isForFrontEnd),
    routes.filter((one) => !isForFrontEnd(one)),
  ]
  t.ok(marked.length > 30 && unmarked.length > 30, `${marked.length} and ${unmarked.length} routes`)
  const preflight = async (route: CollectedRoute, from: string) => {
    const asked = { origin: from, 'access-control-request-method': route.method }
    const sent = { method: 'OPTIONS' as const, url: pathOf(route), headers: asked }
    return (await built.app.inject(sent)).headers['access-control-allow-credentials']
  }
  for (const route of routes) {
    const name = `${route.method} ${route.url}`
    t.equal(await preflight(route, origin), isForFrontEnd(route) ? 'true' : undefined, name)
    t.equal(await preflight(route, tokenOrigin), undefined, `${name} for a token`)
  }
  for (const route of unmarked) {
    if (route.access === 'signature' || route.access === 'public') continue
    const name = `${route.method} ${route.url}`
    const method = route.method as 'GET'
    const headers = { ...ofApp, cookie }
    const answer = await built.app.inject({ method, url: pathOf(route), headers })
    t.equal(answer.headers['access-control-allow-credentials'], undefined, name)
    if (isSafe(route)) continue
    t.equal(answer.statusCode, 403, name)
    t.match(answer.json(), { type: '/docs/errors/cross-origin' }, name)
  }
})

t.test('any other origin gets no credentials, and its writes are refused', async (t) => {
  const test = await buildFor(t)
  const { cookie } = await signIn(test, await createUser(test.database, { role: 'editor' }))
  const payload = { title: 'a', body: 'b' }
  for (const other of others) {
    for (const site of [
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
      {},
    ]) {
      const headers = { origin: other, ...site, cookie }
      const written = await test.app.inject({ method: 'POST', url: '/posts', headers, payload })
      t.equal(written.statusCode, 403, other)
      t.match(written.json(), { type: '/docs/errors/cross-origin' }, other)
      const read = await test.app.inject({ url: '/me', headers })
      const asked = { ...headers, 'access-control-request-method': 'POST' }
      const preflight = await test.app.inject({ method: 'OPTIONS', url: '/posts', headers: asked })
      for (const answer of [written, read, preflight]) {
        t.equal(answer.headers['access-control-allow-credentials'], undefined, other)
        const allowed = other === tokenOrigin ? other : undefined
        t.equal(answer.headers['access-control-allow-origin'], allowed, other)
      }
    }
  }
  const { rows } = await test.database.admin.query('SELECT FROM posts')
  t.same(rows, [], 'nothing was written')
})

t.test('a listed origin that a redirect came through is another site', async (t) => {
  const test = await buildFor(t)
  const { cookie } = await signIn(test, await createUser(test.database, { role: 'editor' }))
  const headers = { origin, 'sec-fetch-site': 'cross-site', cookie }
  const payload = { title: 'a', body: 'b' }
  const answer = await test.app.inject({ method: 'POST', url: '/posts', headers, payload })
  t.equal(answer.statusCode, 403)
})

t.test('without the setting a sibling origin is refused as any other', async (t) => {
  const test = await build(t)
  const { cookie } = await signIn(test, await createUser(test.database, { role: 'editor' }))
  const headers = { ...ofApp, cookie }
  const written = await test.app.inject({ method: 'POST', url: '/posts', headers, payload: {} })
  t.equal(written.statusCode, 403)
  const read = await test.app.inject({ url: '/me', headers })
  t.same(
    Object.keys(read.headers).filter((name) => name.startsWith('access-control-')),
    [],
  )
})

t.test('the session cookie keeps its flags', async (t) => {
  const test = await buildWithProvider(t, { APP_ORIGINS: origin })
  const answer = await test.app.inject({ url: '/auth/login?provider=demo', headers: ofApp })
  t.equal(answer.statusCode, 302)
  const sid = answer.cookies.find(({ name }) => name === 'sid')
  t.match(sid, { httpOnly: true, sameSite: 'Lax', path: '/' })
  t.notMatch(String(answer.headers['set-cookie'] ?? ''), /domain=|samesite=none/i)
})
