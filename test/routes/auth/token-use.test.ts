import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { createOrder, createTestInvoice } from '#test/support/callers/objects.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { until } from '#test/support/database/until.ts'

/** For the tests that look at tenants of their own only. */
const test = await build(t)

t.test('an invalid token is 401 with WWW-Authenticate', async (t) => {
  const { make } = await owner(test)
  const { token, id } = await make()
  const admin = test.database.admin
  const status = async (authorization: string) => {
    const answer = await as(test, { authorization })('GET', '/me')
    if (answer.statusCode === 401) {
      const isBearer = /^bearer\b/i.test(authorization)
      t.equal(
        answer.headers['www-authenticate'],
        isBearer ? 'Bearer error="invalid_token"' : 'Bearer',
      )
      t.match(answer.json(), { status: 401 })
    }
    return answer.statusCode
  }
  t.equal(await status(`bearer ${token}`), 200, 'the scheme is case-insensitive')
  const other = (await make()).token
  const bad = [
    'Bearer',
    'Bearer ',
    'Bearer x',
    `Bearer ${token}x`,
    `Bearer ${token} ${token}`,
    `Basic ${token}`,
    token,
  ]
  for (const value of [...bad, `Bearer ${token.slice(0, -1)}`])
    t.equal(await status(value), 401, value.slice(0, 12))
  t.equal((await test.app.inject({ url: '/me' })).headers['www-authenticate'], 'Bearer')

  await admin.query(`UPDATE api_tokens SET expires_at = now() + interval '10 s' WHERE id = $1`, [
    id,
  ])
  t.equal(await status(`Bearer ${token}`), 200, 'before it expires')
  await admin.query(
    `UPDATE api_tokens SET expires_at = now() - interval '1 second' WHERE id = $1`,
    [id],
  )
  t.equal(await status(`Bearer ${token}`), 401, 'when it expires')
  t.equal(await status(`Bearer ${other}`), 200)
})

t.test('the id of a session is not accepted as a token', async (t) => {
  const { cookie, cookieId } = await signIn(test, await createUser(test.database))
  const answer = await as(test, { authorization: `Bearer ${cookieId}` })('GET', '/me')
  t.equal(answer.statusCode, 401)
  t.match(answer.json(), { type: '/docs/errors/invalid-token' })
  t.equal((await as(test, { cookie })('GET', '/me')).statusCode, 200)
})

t.test('a token together with a session cookie is 400', async (t) => {
  const { cookie, make } = await owner(test)
  const authorization = `Bearer ${(await make()).token}`
  for (const both of [cookie, 'sid=x', 'sid=', `a=b; ${cookie}`, `${cookie}; ${cookie}`]) {
    t.equal(
      (await as(test, { authorization, cookie: both })('GET', '/me')).statusCode,
      400,
      both.slice(0, 8),
    )
  }
  t.equal((await as(test, { authorization, cookie: 'a=b; sidx=1' })('GET', '/me')).statusCode, 200)
  t.equal(
    (await as(test, { authorization: 'Basic eDp5', cookie })('GET', '/me')).statusCode,
    200,
    'another scheme',
  )
})

t.test('the same-origin rule does not apply to tokens', async (t) => {
  const { user, make } = await owner(test)
  const order = await createOrder(test.database, user)
  const { token } = await make()
  const headers = {
    authorization: `Bearer ${token}`,
    origin: 'https://elsewhere.example',
    cookie: 'a=b',
  }
  const shippingAddress = { name: 'A', line1: 'B', city: 'C', postalCode: 'D', country: 'PT' }
  const answer = await as(test, headers)('PATCH', `/orders/${order}`, { shippingAddress })
  t.equal(answer.statusCode, 200)
})

t.test('a limited token has exactly its permissions and GET /me', async (t) => {
  const { user, make } = await owner(test, { role: 'admin' })
  const order = `/orders/${await createOrder(test.database, user)}`
  const invoice = `/invoices/${await createTestInvoice(test.database, user.tenantId)}`
  const requests = [
    ['GET', order, 'order:read'],
    ['PATCH', order, 'order:write'],
    ['GET', invoice, 'invoice:read'],
    ['GET', '/audit', 'user:manage'],
  ] as const
  const sets = [
    [],
    ['order:read'],
    ['order:write'],
    ['invoice:read'],
    ['user:manage'],
    ['document:read', 'document:write', 'post:delete'],
  ]
  for (const permissions of sets) {
    const { use, answer } = await make({ permissions })
    t.same(answer.json().permissions, permissions)
    t.same((await use('GET', '/me')).json().permissions.toSorted(), permissions.toSorted())
    for (const [method, url, permission] of requests) {
      const payload = method === 'PATCH' ? { shippingAddress: {} } : undefined
      const { statusCode } = await use(method, url, payload)
      const allowed = permissions.includes(permission)
      // An empty address is malformed: 400 shows that the permission was granted.
      t.equal(
        statusCode,
        allowed ? (method === 'PATCH' ? 400 : 200) : 403,
        `${permissions}: ${method} ${url}`,
      )
    }
  }
})

t.test('tokens cannot manage tokens, sessions, links or tenants', async (t) => {
  const { user, make } = await owner(test, { role: 'admin' })
  const { id, use } = await make()
  const requests = [
    ['GET', '/auth/tokens'],
    ['POST', '/auth/tokens', { name: 'x', permissions: null }],
    ['GET', `/auth/tokens/${id}`],
    ['DELETE', `/auth/tokens/${id}`],
    ['GET', '/auth/sessions'],
    ['DELETE', '/auth/sessions'],
    ['GET', `/auth/sessions/${id}`],
    ['DELETE', `/auth/sessions/${id}`],
    ['GET', '/auth/identities'],
    ['POST', '/auth/identities/demo'],
    ['DELETE', '/auth/identities/demo/s'],
    ['GET', '/auth/audit'],
    ['GET', '/tenants'],
    ['POST', '/session/tenant', { tenantId: user.tenantId }],
    ['POST', '/auth/logout'],
  ] as const
  for (const [method, url, body] of requests) {
    const answer = await use(method, url, body)
    t.equal(answer.statusCode, 403, `${method} ${url}`)
    t.match(answer.json(), { type: '/docs/errors/session-required' })
  }
  t.equal((await use('GET', '/me')).statusCode, 200)
})

t.test('the last use is recorded, at most once a minute', async (t) => {
  const test = await build(t)
  const { make } = await owner(test)
  const { use } = await make()
  const { admin } = test.database
  const used = async () =>
    (await admin.query('SELECT last_used_at::text AS at FROM api_tokens')).rows[0].at
  t.equal(await used(), null)
  const recorded = `SELECT FROM api_tokens WHERE last_used_at > now() - interval '1 min'`
  await use('GET', '/me')
  await until(test.database, recorded)
  const first = await used()
  await use('GET', '/me')
  t.equal(await used(), first)
  await admin.query(`UPDATE api_tokens SET last_used_at = now() - interval '61 s'`)
  await use('GET', '/me')
  await until(test.database, recorded)
  t.ok((await used()) > first)
})

t.test('requests are limited per token', async (t) => {
  const test = await build(t, { RATE_LIMIT_API: '2/60' })
  const { make } = await owner(test)
  const [one, other] = [await make(), await make()]
  const statuses = [one, one, one, other].map(({ use }) => use)
  const seen: number[] = []
  for (const use of statuses) seen.push((await use('GET', '/me')).statusCode)
  t.same(seen, [200, 200, 429, 200])
})
