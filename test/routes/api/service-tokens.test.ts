import t from 'tap'
import { as } from '#dev/testing/people.ts'
import { servicePermissions } from '#src/access/policy.ts'
import { maxServiceTokens } from '#src/auth/tokens/service-tokens.ts'
import { randomApiToken } from '#src/crypto/api-token.ts'
import { build } from '#test/support/app/app.ts'
import { authenticatedAgo } from '#test/support/callers/account.ts'
import { serviceOwner } from '#test/support/callers/service-owner.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { until } from '#test/support/database/until.ts'
import { auditTrail } from '#test/support/provider/sign-in-journey.ts'

/** For every test that changes nothing outside of tenants and users of its own. */
const test = await build(t)

t.test('a service token is returned once, stored as a hash and acts for its tenant', async (t) => {
  const test = await build(t)
  const { user, send, make } = await serviceOwner(test)
  const { id, token, answer, use } = await make(['post:read', 'post:create', 'post:update'])
  t.equal(answer.statusCode, 201, answer.body)
  t.equal(answer.headers['cache-control'], 'no-store')
  t.equal(answer.headers.location, `/service-tokens/${id}`)
  t.match(token, /^gths_[0-9A-Za-z]{49}$/)

  const created = await use('POST', '/posts', { title: 'Nightly', body: 'Built.' })
  t.equal(created.statusCode, 201, created.body)
  t.match(created.json(), {
    tenantId: user.tenantId,
    authorId: null,
    authorServiceId: id,
    department: null,
  })
  t.same((await use('GET', '/posts')).json().data, [created.json()])
  const path = `/posts/${created.json().id}`
  t.equal((await use('PATCH', path, { title: 'Weekly' })).json().title, 'Weekly')
  t.equal((await use('DELETE', path)).statusCode, 403, 'a permission that it lacks')

  // The last use is recorded beside the request, not within it.
  await until(test.database, 'SELECT FROM service_tokens WHERE last_used_at IS NOT NULL')
  const shown = (await send('GET', `/service-tokens/${id}`)).json()
  t.match(shown, { id, name: 'ci', createdBy: user.userId, lastUsedAt: String })
  t.equal(shown.hint, `gths_…${token.slice(-4)}`)
  t.notOk('token' in shown || 'hash' in shown)
  t.match((await send('GET', '/app/service-tokens')).body, shown.hint)
  t.same((await send('GET', '/service-tokens')).json(), { data: [shown], nextCursor: null })
  const { rows } = await test.database.admin.query(
    'SELECT service_tokens::text FROM service_tokens',
  )
  t.notMatch(JSON.stringify(rows), token)
  t.notMatch(test.log.join(''), token)
  t.same(await auditTrail(test), ['service-token-create done own-request'])
})

t.test('a credential that is not live is 401, whatever is wrong with it', async (t) => {
  const { admin } = test.database
  const { send, make } = await serviceOwner(test)
  const { id, token, use } = await make()
  const status = async () => (await use('GET', '/posts')).statusCode
  const made = randomApiToken('service')
  const asPersonal = `gth_${token.slice('gths_'.length)}`
  for (const other of [made, asPersonal, `${token}x`, token.slice(0, -1), token.toUpperCase()]) {
    const answer = await as(test, { authorization: `Bearer ${other}` })('GET', '/posts')
    t.equal(answer.statusCode, 401)
    t.match(answer.json(), { type: '/docs/errors/invalid-token' })
  }
  await admin.query(`UPDATE service_tokens SET expires_at = now() - interval '1 second'`)
  t.equal(await status(), 401, 'expired')
  const expiresAt = new Date(Date.now() + 60_000).toISOString()
  t.equal((await send('PATCH', `/service-tokens/${id}`, { expiresAt })).statusCode, 200)
  t.equal(await status(), 200)
  const rotated = await send('POST', `/service-tokens/${id}/rotate-secret`)
  t.equal(await status(), 401, 'rotated')
  t.equal(rotated.json().hint, `gths_…${rotated.json().token.slice(-4)}`)
  const next = as(test, { authorization: `Bearer ${rotated.json().token}` })
  t.equal((await next('GET', '/posts')).statusCode, 200)
  t.equal((await send('DELETE', `/service-tokens/${id}`)).statusCode, 204)
  t.equal((await next('GET', '/posts')).statusCode, 401, 'revoked')
  t.equal((await send('DELETE', `/service-tokens/${id}`)).statusCode, 404)
})

t.test('a service is refused what is for people, with a remedy', async (t) => {
  const { cookie, make } = await serviceOwner(test)
  const { id, token, use } = await make(servicePermissions)
  for (const [method, url, body] of [
    ['GET', '/me'],
    ['GET', '/orders'],
    ['POST', '/orders', {}],
    ['GET', '/documents'],
    ['POST', '/documents', {}],
    ['GET', '/auth/tokens'],
    ['POST', '/auth/tokens', { name: 'x', permissions: null }],
    ['GET', '/auth/sessions'],
    ['GET', '/auth/account/export'],
    ['GET', '/tenants'],
    ['GET', '/service-tokens'],
    ['POST', '/service-tokens', { name: 'x', permissions: ['post:read'] }],
    ['PATCH', `/service-tokens/${id}`, { permissions: servicePermissions }],
    ['POST', `/service-tokens/${id}/rotate-secret`],
    ['DELETE', `/service-tokens/${id}`],
    ['POST', '/users', { email: 'eve@example.com', role: 'admin' }],
    ['PATCH', '/users/1', { role: 'admin' }],
    ['DELETE', '/users/1'],
    ['DELETE', '/invitations/00000000-0000-4000-8000-00000000dead'],
    ['POST', '/session/tenant/delete', { name: 'x' }],
    ['GET', '/billing/events'],
    ['GET', '/app/posts'],
    ['GET', '/app/service-tokens'],
    [
      'GET',
      '/app/webhooks/00000000-0000-4000-8000-00000000dead/replays/00000000-0000-4000-8000-00000000dead/events',
    ],
  ] as const) {
    const answer = await use(method, url, body)
    t.equal(answer.statusCode, 403, `${method} ${url}`)
    t.match(answer.body, 'person-required', `${method} ${url}`)
  }
  const both = as(test, { authorization: `Bearer ${token}`, cookie })
  t.equal((await both('GET', '/posts')).statusCode, 400, 'beside a session cookie')
  t.match((await use('GET', '/')).body, 'Sign in', 'the start page knows nobody')
})

t.test('an update never gives a service more than the policy has for services', async (t) => {
  const { send, make } = await serviceOwner(test)
  const { id, use } = await make()
  const change = (body: object) => send('PATCH', `/service-tokens/${id}`, body)
  for (const body of [
    { permissions: ['user:manage'] },
    { permissions: ['user:create'] },
    { permissions: ['order:read'] },
    { permissions: ['*'] },
    { permissions: [] },
    { permissions: ['post:read', 'post:read'] },
    { role: 'admin' },
    { tenantId: crypto.randomUUID() },
    { createdBy: 1 },
    { name: '' },
    { name: 'a\u0000b' },
    { expiresAt: '2020-01-01T00:00:00Z' },
    { expiresAt: new Date(Date.now() + 367 * 86_400_000).toISOString() },
    {},
  ]) {
    t.equal((await change(body)).statusCode, 400, JSON.stringify(body))
  }
  // Whatever the row says: names that are not in the policy permit nothing.
  await test.database.admin.query(
    `UPDATE service_tokens SET permissions = '{user:create,service-token:create,order:read,*,admin}'`,
  )
  for (const url of ['/posts', '/users', '/orders', '/service-tokens', '/webhook-endpoints']) {
    t.equal((await use('GET', url)).statusCode, 403, url)
  }
  t.equal((await use('POST', '/users', { email: 'e@x.example', role: 'admin' })).statusCode, 403)
})

t.test('only an admin who has just signed in creates, changes and rotates', async (t) => {
  const { user, send, make } = await serviceOwner(test)
  const { id } = await make()
  await authenticatedAgo(test, 301)
  const body = { name: 'x', permissions: ['post:read'] }
  for (const [method, url, sent] of [
    ['POST', '/service-tokens', body],
    ['PATCH', `/service-tokens/${id}`, { name: 'y' }],
    ['POST', `/service-tokens/${id}/rotate-secret`, undefined],
  ] as const) {
    const answer = await send(method, url, sent)
    t.equal(answer.statusCode, 403, url)
    t.match(answer.json(), { type: '/docs/errors/reauthentication-required' })
  }
  t.equal((await send('GET', '/service-tokens')).statusCode, 200)
  t.equal(
    (await send('DELETE', `/service-tokens/${id}`)).statusCode,
    204,
    'revoking is always possible',
  )
  for (const role of ['viewer', 'editor']) {
    const other = await serviceOwner(test, { role, tenantId: user.tenantId })
    t.equal((await other.send('GET', '/service-tokens')).statusCode, 403, role)
    t.equal((await other.make()).answer.statusCode, 403, role)
  }
  const personal = await owner(test, { role: 'admin', tenantId: user.tenantId })
  const { use } = await personal.make()
  t.equal((await use('GET', '/service-tokens')).statusCode, 403, 'not with an API token')
  t.equal((await use('POST', '/service-tokens', body)).statusCode, 403)
})

t.test('twin tenants: a service and an admin reach their own tenant alone', async (t) => {
  const [one, two] = [await serviceOwner(test), await serviceOwner(test)]
  const mine = await one.make(servicePermissions)
  const theirs = await two.make(servicePermissions)
  const post = await theirs.use('POST', '/posts', { title: 'Theirs', body: 'x' })
  const path = `/posts/${post.json().id}`
  t.same((await mine.use('GET', '/posts')).json().data, [])
  for (const [method, body] of [['GET'], ['PATCH', { title: 'Mine' }], ['DELETE']] as const) {
    t.equal((await mine.use(method, path, body)).statusCode, 404, method)
  }
  t.equal((await theirs.use('GET', path)).json().title, 'Theirs')
  for (const [method, suffix, body] of [
    ['GET', ''],
    ['PATCH', '', { name: 'x' }],
    ['POST', '/rotate-secret'],
    ['DELETE', ''],
  ] as const) {
    const answer = await one.send(method, `/service-tokens/${theirs.id}${suffix}`, body)
    t.equal(answer.statusCode, 404, method)
  }
  t.same((await one.send('GET', '/service-tokens')).json().data.length, 1)
  t.equal((await theirs.use('GET', '/posts')).statusCode, 200)
})

t.test(
  'of two rotations at once one is refused, and the secret that was shown works',
  async (t) => {
    const { send, make } = await serviceOwner(test)
    const { id, use } = await make()
    for (let round = 0; round < 5; round += 1) {
      const url = `/service-tokens/${id}/rotate-secret`
      const answers = await Promise.all([send('POST', url), send('POST', url), send('POST', url)])
      const shown = answers.filter(({ statusCode }) => statusCode === 200)
      t.ok(shown.length >= 1)
      t.ok(answers.every(({ statusCode }) => statusCode === 200 || statusCode === 409))
      const live = await Promise.all(
        shown.map(async (answer) => {
          const authorization = `Bearer ${answer.json().token}`
          return (await as(test, { authorization })('GET', '/posts')).statusCode
        }),
      )
      // Those that did not overlap followed each other: the last of them is the live one.
      t.equal(live.filter((status) => status === 200).length, 1)
    }
    t.equal((await use('GET', '/posts')).statusCode, 401)
  },
)

t.test('a token outlives its creator, and ends with its tenant', async (t) => {
  const { admin } = test.database
  const { user, send, make } = await serviceOwner(test)
  const { id, use } = await make(['post:read', 'post:create'])
  const other = await serviceOwner(test, { tenantId: user.tenantId })
  const read = async () => (await other.send('GET', `/service-tokens/${id}`)).json()

  await admin.query(`UPDATE memberships SET role = 'viewer' WHERE user_id = $1`, [user.userId])
  t.equal((await use('GET', '/posts')).statusCode, 200, 'the creator is no admin')
  t.equal((await send('GET', '/service-tokens')).statusCode, 403)
  t.equal((await other.send('DELETE', `/users/${user.userId}`)).statusCode, 204)
  t.equal((await use('POST', '/posts', { title: 'x', body: 'x' })).statusCode, 201, 'has left')
  t.equal((await read()).createdBy, null, 'and was erased with their last membership')

  await admin.query(`UPDATE tenants SET name = 'Ours' WHERE id = $1`, [user.tenantId])
  const gone = await other.send('POST', '/session/tenant/delete', { name: 'Ours' })
  t.equal(gone.statusCode, 204, gone.body)
  t.equal((await use('GET', '/posts')).statusCode, 401, 'at once, before the tenant is purged')
})

t.test('the audit log names the service, also after its token is gone', async (t) => {
  const { user, send, make } = await serviceOwner(test)
  const { id, use } = await make(['webhook-endpoint:create', 'audit:read'], { name: 'deployer' })
  const url = 'https://8.8.8.8/'
  t.equal((await use('POST', '/webhook-endpoints', { url })).statusCode, 201)
  t.equal((await send('PATCH', `/service-tokens/${id}`, { name: 'renamed' })).statusCode, 200)
  t.equal((await send('DELETE', `/service-tokens/${id}`)).statusCode, 204)
  const { data } = (await send('GET', '/audit')).json()
  const created = data.find(({ action }: { action: string }) => action === 'endpoint-create')
  t.match(created, {
    userId: null,
    serviceId: id,
    serviceName: 'deployer',
    tenantId: user.tenantId,
  })
  const changed = data.find(({ action }: { action: string }) => action === 'service-token-change')
  t.match(changed, {
    userId: user.userId,
    serviceId: null,
    serviceName: null,
    reason: 'name',
    target: id,
  })
  const page = await send('GET', '/app/audit')
  t.match(page.body, 'deployer')
  const lines = test.log.join('')
  t.match(lines, `"serviceId":"${id}"`)
})

t.test('a service has its own idempotency keys and its own rate limit', async (t) => {
  const test = await build(t, { RATE_LIMIT_API: '5/60' })
  const { make } = await serviceOwner(test)
  const [one, two] = [await make(['post:create']), await make(['post:create'])]
  const post = (token: string, key: string, title = 'x') =>
    test.app.inject({
      method: 'POST',
      url: '/posts',
      headers: { authorization: `Bearer ${token}`, 'idempotency-key': key },
      payload: { title, body: 'x' },
    })
  const first = await post(one.token, 'k')
  t.equal(first.statusCode, 201, first.body)
  const again = await post(one.token, 'k')
  t.same(again.json(), first.json())
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.equal((await post(one.token, 'k', 'other')).statusCode, 422)
  t.not((await post(two.token, 'k')).json().id, first.json().id, 'the key of another service')
  await Promise.all([post(one.token, 'a'), post(one.token, 'b')])
  t.equal((await post(one.token, 'c')).statusCode, 429)
  t.equal((await post(two.token, 'c')).statusCode, 201, 'another service has its own limit')
})

t.test('a key for the creation returns the same secret, which is kept encrypted', async (t) => {
  const test = await build(t)
  const { cookie } = await serviceOwner(test)
  const create = () =>
    test.app.inject({
      method: 'POST',
      url: '/service-tokens',
      headers: { cookie, 'idempotency-key': 'once' },
      payload: { name: 'ci', permissions: ['post:read'] },
    })
  const [one, two] = await Promise.all([create(), create()])
  t.equal(one.statusCode, 201)
  t.same(two.json(), one.json())
  const { rows } = await test.database.admin.query(
    `SELECT encode(result, 'escape') AS result FROM idempotency_keys`,
  )
  t.equal(rows.length, 1)
  t.notMatch(JSON.stringify(rows), one.json().token)
  const { rowCount } = await test.database.admin.query('SELECT FROM service_tokens')
  t.equal(rowCount, 1)
})

t.test('a tenant has at most 50 service tokens; If-Match guards an update', async (t) => {
  const { user, cookie, make } = await serviceOwner(test)
  const { id, answer } = await make()
  const change = (tag: string) =>
    test.app.inject({
      method: 'PATCH',
      url: `/service-tokens/${id}`,
      headers: { cookie, 'if-match': tag },
      payload: { name: 'renamed' },
    })
  const read = await test.app.inject({ url: `/service-tokens/${id}`, headers: { cookie } })
  const tag = String(read.headers.etag)
  t.equal((await change('"other"')).statusCode, 412)
  t.equal((await change(tag)).statusCode, 200)
  t.equal((await change(tag)).statusCode, 412, 'changed since')
  t.equal(answer.statusCode, 201)
  await test.database.admin.query(
    `INSERT INTO service_tokens (last_four, tenant_id, hash, name, permissions, expires_at)
     SELECT 'test', $1, sha256(n::text::bytea), 'x', '{post:read}', now() + interval '1 day'
     FROM generate_series(2, $2) n`,
    [user.tenantId, maxServiceTokens],
  )
  const full = (await make()).answer
  t.equal(full.statusCode, 409)
  t.match(full.json().detail, /has 50 service tokens/)
})
