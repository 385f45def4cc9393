import { createLocalJWKSet, jwtVerify } from 'jose'
import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { knownPermissions } from '#src/auth/forward-auth/identity.ts'
import { roles, tokenPermissions } from '#test/access/matrix/contract.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { serviceOwner } from '#test/support/callers/service-owner.ts'
import { owner } from '#test/support/callers/token-owner.ts'

const base = 'http://localhost:3000'
/** What everybody may do with what is their own or the tenant's, and a token can be limited to. */
const own = tokenPermissions.filter((one) => !roles.admin?.includes(one))
const get = { 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/dashboard' }
const html = { accept: 'text/html,application/xhtml+xml' }

const ask = ({ app }: TestApp, headers: Record<string, string>, query = '') =>
  app.inject({ url: `/auth/verify${query}`, headers })

/** The headers of the family. */
const family = (headers: object) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('gatehouse-')))

/** Verifies as an app does, with the published keys. */
async function verifyIdentity({ app }: TestApp, token: unknown, options = {}) {
  const keys = createLocalJWKSet((await app.inject({ url: '/.well-known/jwks.json' })).json())
  const rules = { issuer: base, audience: base, algorithms: ['EdDSA'], ...options }
  return (await jwtVerify(String(token), keys, rules)).payload
}

async function signedIn(
  t: Test,
  facts: Parameters<typeof createUser>[1] = {},
  settings?: Record<string, string>,
) {
  const used = settings === undefined ? test : await build(t, settings)
  const user = await createUser(used.database, facts)
  return { test: used, user, headers: await signIn(used, user) }
}

/** For every test that changes nothing outside of tenants and users of its own. */
const test = await build(t)
const { app } = test

t.test('a live session is 204 and tells who it is, in headers and in a signed token', async (t) => {
  const facts = { role: 'editor', email: 'ada@example.com', emailVerified: true }
  const { test, user, headers } = await signedIn(t, facts)
  const { cookie } = headers
  await test.database.admin.query(`UPDATE users SET plan = 'pro' WHERE id = $1`, [user.userId])
  const answer = await ask(test, { cookie, ...get })
  t.equal(answer.statusCode, 204)
  t.equal(answer.body, '')
  t.equal(answer.headers['cache-control'], 'no-store')
  t.equal(answer.headers['set-cookie'], undefined)
  const { 'gatehouse-identity': token, ...told } = family(answer.headers)
  t.strictSame(told, {
    'gatehouse-user': String(user.userId),
    'gatehouse-tenant': user.tenantId,
    'gatehouse-role': 'editor',
    'gatehouse-email': 'ada@example.com',
    'gatehouse-permissions': ['post:read', 'post:write', ...own].join(),
    'gatehouse-plan': 'pro',
  })
  const { iat, exp, ...claims } = await verifyIdentity(test, token)
  t.strictSame(claims, {
    iss: base,
    aud: base,
    sub: String(user.userId),
    tenant: user.tenantId,
    role: 'editor',
    email: 'ada@example.com',
    plan: 'pro',
    permissions: ['post:read', 'post:write', ...own],
  })
  t.equal(Number(exp) - Number(iat), 60)
})

t.test('an address that nobody trusted has verified is told to nobody', async (t) => {
  const { test, headers } = await signedIn(t, { email: 'ada@example.com', emailVerified: false })
  const answer = await ask(test, { cookie: headers.cookie, ...get })
  t.equal(answer.statusCode, 204)
  const { 'gatehouse-identity': token, ...told } = family(answer.headers)
  t.match(told, { 'gatehouse-email': '', 'gatehouse-plan': '', 'gatehouse-role': 'viewer' })
  t.equal(Object.keys(told).length, 6, 'all of them, so that each replaces that of a client')
  const claims = await verifyIdentity(test, token)
  t.notOk('email' in claims)
  t.notOk('plan' in claims)
})

t.test('text that no header can hold is only in the token', async (t) => {
  const email = 'zoë\r\ngatehouse-role: admin@example.com'
  const { test, headers } = await signedIn(t, { email, emailVerified: true })
  const answer = await ask(test, { cookie: headers.cookie, ...get })
  t.equal(answer.statusCode, 204)
  t.equal(answer.headers['gatehouse-email'], '')
  t.equal(answer.headers['gatehouse-role'], 'viewer')
  t.equal((await verifyIdentity(test, answer.headers['gatehouse-identity'])).email, email)
})

t.test('the token is for one audience, of one issuer, for 60 seconds', async (t) => {
  const { test, headers } = await signedIn(t, {}, { IDENTITY_AUDIENCE: 'https://app.example.com' })
  const { 'gatehouse-identity': token } = (await ask(test, { cookie: headers.cookie, ...get }))
    .headers
  const audience = 'https://app.example.com'
  const { exp } = await verifyIdentity(test, token, { audience })
  await t.rejects(verifyIdentity(test, token), { message: /"aud" claim/ })
  await t.rejects(verifyIdentity(test, token, { audience, issuer: 'https://x.example' }), {
    message: /"iss" claim/,
  })
  const late = new Date(Number(exp) * 1000)
  await t.rejects(verifyIdentity(test, token, { audience, currentDate: late }), {
    code: 'ERR_JWT_EXPIRED',
  })
  const [head, body, signature] = String(token).split('.')
  const claims = JSON.parse(Buffer.from(String(body), 'base64url').toString())
  const forged = Buffer.from(JSON.stringify({ ...claims, role: 'admin' })).toString('base64url')
  await t.rejects(verifyIdentity(test, `${head}.${forged}.${signature}`, { audience }), {
    code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  })
})

t.test('a key is published before it signs, and until its tokens have expired', async (t) => {
  const [a, b] = [`a:${'a'.repeat(43)}`, `b:${'b'.repeat(43)}`]
  const kids: string[][] = []
  const tokens: unknown[] = []
  const steps: TestApp[] = []
  for (const keys of [a, `${a},${b}`, `${b},${a}`, b]) {
    const { test, headers } = await signedIn(t, {}, { ENCRYPTION_KEYS: keys })
    const answer = await ask(test, { cookie: headers.cookie, ...get })
    t.equal(answer.statusCode, 204, answer.body)
    tokens.push(answer.headers['gatehouse-identity'])
    const set = (await test.app.inject({ url: '/.well-known/jwks.json' })).json()
    kids.push(set.keys.map(({ kid }: { kid: string }) => kid))
    for (const key of set.keys) {
      t.strictSame(Object.keys(key).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x'])
    }
    steps.push(test)
  }
  const [[first], , [second]] = kids as [[string], string[], [string]]
  t.not(first, second)
  t.strictSame(kids, [[first], [first, second], [second, first], [second]])
  // The keys matter here, not how long the machine took.
  const currentDate = new Date(0)
  const [before, both, turned, after] = steps as [TestApp, TestApp, TestApp, TestApp]
  await verifyIdentity(both, tokens[0], { currentDate })
  await verifyIdentity(both, tokens[2], { currentDate })
  await verifyIdentity(turned, tokens[1], { currentDate })
  for (const [step, token] of [
    [before, tokens[2]],
    [after, tokens[1]],
  ] as const) {
    await t.rejects(verifyIdentity(step, token, { currentDate }), {
      code: 'ERR_JWKS_NO_MATCHING_KEY',
    })
  }
})

t.test('the key set may be kept for five minutes, and is for everyone', async (t) => {
  const answer = await app.inject({ url: '/.well-known/jwks.json' })
  t.equal(answer.statusCode, 200)
  t.equal(answer.headers['cache-control'], 'public, max-age=300')
  t.match(answer.headers['content-type'], 'application/json')
  t.match(answer.json(), { keys: [{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig' }] })
})

t.test('the question for a permission is answered as the header and the token say', async (t) => {
  const { make } = await owner(test, { role: 'editor' })
  for (const limit of [{}, { permissions: ['post:read', 'order:read'] }]) {
    const { token } = await make(limit)
    const authorization = `Bearer ${token}`
    const { headers } = await ask(test, { authorization, ...get })
    const told = String(headers['gatehouse-permissions']).split(',')
    const { permissions } = await verifyIdentity(test, headers['gatehouse-identity'])
    t.strictSame(permissions, told)
    for (const permission of knownPermissions) {
      const { statusCode } = await ask(test, { authorization, ...get }, `?permission=${permission}`)
      t.equal(statusCode, told.includes(permission) ? 204 : 403, permission)
    }
  }
})

t.test('an API token has what its owner has, within its limit', async (t) => {
  const { user, make } = await owner(test, { role: 'admin' })
  for (const [body, permissions] of [
    [{}, ['post:read', 'post:write', 'post:delete', 'user:manage', ...own].join()],
    [{ permissions: ['post:read', 'order:read'] }, 'post:read,order:read'],
  ] as const) {
    const { token } = await make(body)
    const { statusCode, headers } = await ask(test, { authorization: `Bearer ${token}`, ...get })
    t.equal(statusCode, 204)
    t.match(headers, {
      'gatehouse-user': String(user.userId),
      'gatehouse-permissions': permissions,
    })
  }
})

t.test('a service token is a tenant and its permissions, and no user', async (t) => {
  const { user, make } = await serviceOwner(test, { email: 'a@example.com', emailVerified: true })
  const { id, token } = await make(['post:read', 'post:create'])
  const headers = { authorization: `Bearer ${token}`, ...get }
  const answer = await ask(test, headers)
  t.equal(answer.statusCode, 204)
  const { 'gatehouse-identity': identity, ...told } = family(answer.headers)
  t.strictSame(told, {
    'gatehouse-user': '',
    'gatehouse-tenant': user.tenantId,
    'gatehouse-role': '',
    'gatehouse-email': '',
    'gatehouse-permissions': 'post:read,post:create',
    'gatehouse-plan': '',
  })
  const { iss, aud, iat, exp, ...claims } = await verifyIdentity(test, identity)
  t.strictSame(claims, {
    sub: `service:${id}`,
    tenant: user.tenantId,
    permissions: ['post:read', 'post:create'],
  })
  for (const [query, status] of [
    ['?permission=post:create', 204],
    ['?permission=post:read', 204],
    ['?permission=post:write', 403],
    ['?permission=user:manage', 403],
    ['?plan=pro', 403],
  ] as const) {
    t.equal((await ask(test, headers, query)).statusCode, status, query)
  }
})

t.test('a permission or a plan that is asked for and missing is 403', async (t) => {
  const { test, user, headers } = await signedIn(t, { role: 'editor' })
  const { cookie } = headers
  const status = async (query: string) => {
    const answer = await ask(test, { cookie, ...get }, query)
    t.strictSame(
      Object.keys(family(answer.headers)).includes('gatehouse-identity'),
      answer.statusCode === 204,
      `${query} tells only what may pass`,
    )
    return answer.statusCode
  }
  t.equal(await status('?permission=post:write'), 204)
  t.equal(await status('?permission=post:delete'), 403)
  t.equal(await status('?permission=order:read'), 204, 'everyone has their own orders')
  t.equal(await status('?plan=pro'), 403)
  await test.database.admin.query(`UPDATE users SET plan = 'pro' WHERE id = $1`, [user.userId])
  t.equal(await status('?plan=pro'), 204)
  t.equal(await status('?plan=team'), 403)
  t.equal(await status('?permission=post:write&plan=pro'), 204)
  t.equal(await status('?permission=post:delete&plan=pro'), 403)
  for (const bad of [
    '?permission=',
    '?permission=post:fly',
    '?permission=constructor',
    '?permission=post:write&permission=post:read',
    '?plan=',
    '?plan=pro&plan=team',
    '?role=admin',
    '?permissions=post:delete',
  ]) {
    t.equal(await status(bad), 400, bad)
  }
  await test.database.admin.query(`UPDATE memberships SET role = 'viewer'`)
  t.equal(await status('?permission=post:write'), 403, 'on the next request')
})

t.test('a limited token has a permission only if its limit and its owner have it', async (t) => {
  const { make } = await owner(test, { role: 'editor' })
  const { token } = await make({ permissions: ['post:write', 'order:read'] })
  const headers = { authorization: `Bearer ${token}`, ...get }
  for (const [permission, status] of [
    ['post:write', 204],
    ['order:read', 204],
    ['post:read', 403],
    ['order:write', 403],
    ['post:delete', 403],
  ] as const) {
    t.equal((await ask(test, headers, `?permission=${permission}`)).statusCode, status, permission)
  }
  await test.database.admin.query(`UPDATE memberships SET role = 'viewer'`)
  t.equal((await ask(test, headers, '?permission=post:write')).statusCode, 403)
})

t.test('without a live credential it is 401, and the response tells nothing', async (t) => {
  const { test, headers } = await signedIn(t)
  const { cookie } = headers
  await test.database.admin.query('DELETE FROM sessions')
  for (const [what, sent] of Object.entries({
    'no credential': {},
    'a session that has ended': { cookie },
    'a cookie with another signature': { cookie: `${cookie.slice(0, -3)}xyz` },
    'a made-up token': { authorization: `Bearer gth_${'a'.repeat(43)}` },
    'the headers themselves': {
      'gatehouse-user': '1',
      'gatehouse-role': 'admin',
      'gatehouse-identity': 'x.y.z',
    },
  })) {
    const answer = await ask(test, { ...get, ...sent })
    t.equal(answer.statusCode, 401, what)
    t.strictSame(family(answer.headers), {}, what)
    t.equal(answer.headers.location, undefined, what)
    t.equal(answer.headers['cache-control'], 'no-store')
  }
  t.equal((await ask(test, get, '?permission=no')).statusCode, 401, 'before the question is judged')
})

t.test('a page that a browser opens leads to sign-in, and back only where it may', async (t) => {
  const test = await build(t, { SIGN_IN_RETURN_TO: '/start,/dashboard,/offer?id=7' })
  const login = (path?: string) =>
    path === undefined
      ? `${base}/auth/login`
      : `${base}/auth/login?${new URLSearchParams({ return_to: path })}`
  for (const [uri, returnTo] of [
    ['/dashboard', '/dashboard'],
    ['/dashboard?tab=2', '/dashboard'],
    ['/offer?id=7', '/offer?id=7'],
    ['/offer?id=8', undefined],
    ['/app/orders/7?x=1', '/app/orders/7?x=1'],
    ['/elsewhere', undefined],
    ['/dashboard/', undefined],
    ['/me', undefined],
    ['//evil.example/dashboard', undefined],
    ['/\\evil.example', undefined],
    ['/dashboard\u00e9', undefined],
    ['https://evil.example/dashboard', undefined],
    ['http://localhost:3000.evil.example/dashboard', undefined],
    ['http://localhost:3000@evil.example/dashboard', undefined],
    ['javascript:alert(1)', undefined],
    ['', undefined],
    [`/dashboard?${'x'.repeat(3_000)}`, '/dashboard'],
  ] as const) {
    const sent = { ...html, 'x-forwarded-method': 'GET', 'x-forwarded-uri': uri }
    const answer = await ask(test, sent)
    t.equal(answer.statusCode, 302, uri)
    t.equal(answer.headers.location, login(returnTo), uri)
    t.equal(answer.headers['cache-control'], 'no-store')
    // nginx: no redirect from there.
    for (const url of [uri, `${base}${uri}`]) {
      const original = await ask(test, {
        ...html,
        'x-original-method': 'GET',
        'x-original-url': url,
      })
      t.equal(original.statusCode, 401, url)
      t.ok([login(returnTo), login()].includes(String(original.headers.location)), url)
    }
  }
  const own = { ...html, 'x-original-method': 'GET', 'x-original-url': `${base}/dashboard` }
  t.equal((await ask(test, own)).headers.location, login('/dashboard'))
  t.equal((await ask(test, html)).headers.location, login(), 'without a word about the page')
})

t.test('only a page that a browser opens leads to sign-in', async (t) => {
  const { test, headers } = await signedIn(t, {})
  const { cookie } = headers
  const uri = { 'x-forwarded-uri': '/' }
  for (const [what, sent] of Object.entries({
    'a script': { accept: '*/*', 'x-forwarded-method': 'GET' },
    'a form': { ...html, 'x-forwarded-method': 'POST' },
    'two methods': { ...html, 'x-forwarded-method': 'GET', 'x-original-method': 'POST' },
    'a WebSocket': { ...html, 'x-forwarded-method': 'GET', 'sec-websocket-key': 'x' },
    'a token that is not valid': { ...html, ...get, authorization: 'Bearer x' },
  })) {
    const answer = await ask(test, { ...uri, ...sent })
    t.equal(answer.statusCode, 401, what)
    t.equal(answer.headers.location, undefined, what)
  }
  const forbidden = await ask(test, { ...html, ...get, cookie }, '?plan=pro')
  t.equal(forbidden.statusCode, 403, 'who is signed in is not sent to sign in')
})

t.test('the same-origin rule applies to the request to the app', async (t) => {
  const { test, headers } = await signedIn(t)
  const { cookie } = headers
  const cross = { 'sec-fetch-site': 'cross-site' }
  const same = { 'sec-fetch-site': 'same-origin' }
  const other = { origin: 'https://evil.example' }
  const own = { origin: base }
  const post = { 'x-forwarded-method': 'POST', 'x-forwarded-uri': '/pay' }
  const ofNginx = { 'x-original-method': 'POST', 'x-original-url': `${base}/pay` }
  const socket = { ...get, 'sec-websocket-key': 'x' }
  for (const [what, sent, status] of [
    ['a link from another site', { ...get, ...cross }, 204],
    ['a link, by its origin', { ...get, ...other }, 204],
    ['a preflight', { ...get, 'x-forwarded-method': 'OPTIONS', ...cross }, 204],
    ['a form of our own', { ...post, ...same, ...own }, 204],
    ['a form of our own, old browser', { ...post, ...own }, 204],
    ['not from a browser', post, 204],
    ['a form of another site', { ...post, ...cross, ...other }, 403],
    ['a form of a sibling', { ...post, 'sec-fetch-site': 'same-site' }, 403],
    ['a form of another site, old browser', { ...post, ...other }, 403],
    ['a form of another site, by navigation', { ...post, ...cross, ...html }, 403],
    ['an origin that is hidden', { ...post, origin: 'null' }, 403],
    ['the same through nginx', { ...ofNginx, ...cross }, 403],
    ['through nginx, our own', { ...ofNginx, ...same }, 204],
    ['DELETE', { ...post, 'x-forwarded-method': 'DELETE', ...cross }, 403],
    ['a made-up method', { ...post, 'x-forwarded-method': 'FETCH', ...cross }, 403],
    ['lower case', { ...post, 'x-forwarded-method': 'get', ...cross }, 403],
    ['two methods, one of them safe', { ...post, 'x-original-method': 'GET', ...cross }, 403],
    ['two values', { ...post, 'x-forwarded-method': 'GET, POST', ...cross }, 403],
    ['a proxy that names no method', { 'x-forwarded-uri': '/pay', ...cross }, 403],
    ['a WebSocket from another site', { ...socket, ...other }, 403],
    ['a WebSocket from a sibling', { ...socket, 'sec-fetch-site': 'same-site' }, 403],
    ['a WebSocket of our own', { ...socket, ...own }, 204],
  ] as const) {
    const answer = await ask(test, { cookie, ...sent })
    t.equal(answer.statusCode, status, what)
    if (status === 403) {
      t.strictSame(family(answer.headers), {}, what)
    }
  }
  const { make } = await owner(test)
  const { token } = await make()
  const bearer = await ask(test, { authorization: `Bearer ${token}`, ...post, ...cross })
  t.equal(bearer.statusCode, 204, 'another site cannot make a browser send a token')
  const both = await ask(test, { authorization: `Bearer ${token}`, cookie, ...post, ...cross })
  t.equal(both.statusCode, 400, 'two people at once')
})

t.test('a token of the app behind the proxy says nothing about who asks', async (t) => {
  const { test, user, headers } = await signedIn(t)
  const foreign = { authorization: 'Bearer eyJhbGciOiJFZERTQSJ9.e30.c2lnbmVk', ...get }
  const answer = await ask(test, { cookie: headers.cookie, ...foreign })
  t.equal(answer.statusCode, 204)
  t.match(family(answer.headers), { 'gatehouse-user': String(user.userId) })
  t.equal((await ask(test, foreign)).statusCode, 401, 'nobody is signed in')
})

t.test('headers of the request to the app have no effect on the response', async (t) => {
  const { test, headers } = await signedIn(t)
  const { cookie } = headers
  const sent = {
    'if-match': '"x"',
    'if-none-match': '*',
    'idempotency-key': 'k',
    'content-type': 'application/x-www-form-urlencoded',
    range: 'bytes=0-1',
    'gatehouse-role': 'admin',
  }
  const answer = await ask(test, { cookie, ...get, ...sent })
  t.equal(answer.statusCode, 204)
  t.equal(answer.headers['gatehouse-role'], 'viewer')
})

t.test('HEAD and POST are no questions', async (t) => {
  const { test, headers } = await signedIn(t)
  for (const method of ['HEAD', 'POST', 'PUT'] as const) {
    const { cookie } = headers
    const answer = await test.app.inject({ method, url: '/auth/verify', headers: { cookie } })
    t.equal(answer.statusCode, 405, method)
  }
})

t.test('questions have a limit of their own, per session', async (t) => {
  const { test, headers } = await signedIn(
    t,
    {},
    { RATE_LIMIT_VERIFY: '2/60', RATE_LIMIT_API: '1/60' },
  )
  const { cookie } = headers
  const statuses: number[] = []
  for (let n = 0; n < 3; n++) statuses.push((await ask(test, { cookie, ...get })).statusCode)
  t.strictSame(statuses, [204, 204, 429])
  t.equal((await test.app.inject({ url: '/me', headers: { cookie } })).statusCode, 200)
  const other = await signIn(test, await createUser(test.database))
  t.equal((await ask(test, { cookie: other.cookie, ...get })).statusCode, 204, 'not their limit')
})

t.test('a person without a tenant is known, with neither role nor permission', async (t) => {
  const { userId } = await createUser(test.database)
  const { cookie } = await signIn(test, { userId, tenantId: null })
  const answer = await ask(test, { cookie, ...get })
  t.equal(answer.statusCode, 204)
  t.match(answer.headers, {
    'gatehouse-user': String(userId),
    'gatehouse-tenant': '',
    'gatehouse-role': '',
    'gatehouse-permissions': '',
  })
  t.equal((await ask(test, { cookie, ...get }, '?permission=post:read')).statusCode, 403)
})
