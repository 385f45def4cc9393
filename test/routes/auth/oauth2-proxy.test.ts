import { createLocalJWKSet, jwtVerify } from 'jose'
import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'

/* The names of oauth2-proxy, as a proxy uses them that was configured for it. */

const base = 'http://localhost:3000'
const test = await build(t, { SIGN_IN_RETURN_TO: '/start,/*' })
const { app, database } = test
const html = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }
const get = { 'x-original-method': 'GET', 'x-forwarded-uri': '/orders/9?x=1' }

const ask = (headers: Record<string, string>, query = '') =>
  app.inject({ url: `/oauth2/auth${query}`, headers: { ...get, ...headers } })

t.test('a live session is 202, with the names of both', async (t) => {
  const facts = { role: 'editor', email: 'ada@example.com', emailVerified: true }
  const user = await createUser(database, facts)
  const { cookie } = await signIn(test, user)
  const { statusCode, body, headers } = await ask({ cookie })
  t.equal(statusCode, 202)
  t.equal(body, '')
  t.match(headers, {
    'x-auth-request-user': String(user.userId),
    'x-auth-request-email': 'ada@example.com',
    'x-auth-request-groups': 'editor',
    'gatehouse-user': String(user.userId),
    'gatehouse-role': 'editor',
  })
  const keys = createLocalJWKSet((await app.inject({ url: '/.well-known/jwks.json' })).json())
  const rules = { issuer: base, audience: base }
  const { payload } = await jwtVerify(String(headers['gatehouse-identity']), keys, rules)
  t.equal(payload.sub, String(user.userId))
})

t.test('an address that is not verified is not named', async (t) => {
  const { cookie } = await signIn(test, await createUser(database, { email: 'eve@example.com' }))
  t.equal((await ask({ cookie })).headers['x-auth-request-email'], '')
})

t.test('without a session it is 401, never a redirect, with where to sign in', async (t) => {
  for (const sent of [html, { accept: '*/*' }, { ...html, cookie: 'sid=x' }]) {
    const { statusCode, headers } = await ask(sent)
    t.equal(statusCode, 401)
    t.equal(headers['x-auth-request-user'], undefined)
    t.match(headers.link, /^<http:\/\/localhost:3000\/auth\/login.*>; rel="authenticate"$/)
  }
  t.equal(
    (await ask(html)).headers.location,
    `${base}/auth/login?return_to=%2Forders%2F9%3Fx%3D1`,
    'as for nginx',
  )
})

t.test('what is refused at the other path is refused here', async (t) => {
  const { cookie } = await signIn(test, await createUser(database, { role: 'viewer' }))
  const evil = { cookie, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  t.equal((await ask({ ...evil, 'x-original-method': 'POST' })).statusCode, 403)
  t.equal((await ask({ cookie }, '?permission=post:write')).statusCode, 403)
  t.equal((await ask({ cookie }, '?audience=other')).statusCode, 400)
  t.equal((await ask({ cookie }, '?allowed_groups=admin')).statusCode, 400, 'not ignored')
})

t.test('rd is where the sign-in returns to, within the rules of return_to', async (t) => {
  for (const path of ['/oauth2/start', '/oauth2/sign_in']) {
    const start = (query: string, headers = {}) => app.inject({ url: `${path}${query}`, headers })
    const rd = (target: string) => `?${new URLSearchParams({ rd: target })}`
    const login = `/auth/login?return_to=%2Forders%2F9%3Fx%3D1`
    for (const target of ['/orders/9?x=1', `${base}/orders/9?x=1`]) {
      const { statusCode, headers } = await start(rd(target))
      t.equal(statusCode, 302)
      t.equal(headers.location, login)
      const named = { 'x-auth-request-redirect': target }
      t.equal((await start('', named)).headers.location, login)
      t.equal((await start(rd('/x'), named)).headers.location, '/auth/login?return_to=%2Fx')
    }
    for (const trick of [
      'https://evil.example/',
      '//evil.example/',
      '/\\evil.example/',
      `${base}//evil.example/`,
      `${base}.evil.example/`,
      `${base}@evil.example/`,
      `${base}/%2Fevil.example/`,
      '/oauth2/start?rd=/',
      '/oauth2/sign_in',
      '/auth/logout',
    ]) {
      t.equal((await start(rd(trick))).headers.location, '/auth/login', trick)
    }
    t.equal((await start('')).headers.location, '/auth/login')
  }
})
