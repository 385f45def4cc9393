import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { maxTokens } from '#src/auth/tokens/api-tokens.ts'
import { build } from '#test/support/app/app.ts'
import { authenticatedAgo } from '#test/support/callers/account.ts'
import { createOrder, createTestInvoice } from '#test/support/callers/objects.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { until } from '#test/support/database/until.ts'
import { auditTrail } from '#test/support/provider/sign-in-journey.ts'

const day = 86_400_000

/** For every test that changes nothing outside of tenants and users of its own. */
const test = await build(t)

t.test('a token is returned once, stored as a hash and acts for its owner', async (t) => {
  const test = await build(t)
  const { user, send, make } = await owner(test)
  const { id, token, answer, use } = await make()
  t.equal(answer.statusCode, 201)
  t.equal(answer.headers['cache-control'], 'no-store')
  t.match(token, /^gth_[0-9A-Za-z]{49}$/)
  t.match((await use('GET', '/me')).json(), {
    user: { id: user.userId },
    tenant: { id: user.tenantId },
  })
  const order = await createOrder(test.database, user)
  t.equal((await use('GET', `/orders/${order}`)).statusCode, 200)
  const invoice = await createTestInvoice(test.database, user.tenantId)
  t.equal((await use('GET', `/invoices/${invoice}`)).statusCode, 200)

  // The last use is recorded beside the request, not within it.
  await until(test.database, 'SELECT FROM api_tokens WHERE last_used_at IS NOT NULL')
  const shown = (await send('GET', `/auth/tokens/${id}`)).json()
  const fields = ['id', 'name', 'hint', 'permissions', 'createdAt', 'expiresAt', 'lastUsedAt']
  t.same(Object.keys(shown), fields)
  t.equal(shown.hint, `gth_…${token.slice(-4)}`)
  const page = await send('GET', '/app/account/tokens')
  t.match(page.body, shown.hint)
  t.match(shown, { id, name: 'ci', permissions: null, lastUsedAt: String })
  t.same((await send('GET', '/auth/tokens')).json(), { data: [shown], nextCursor: null })
  const { rows } = await test.database.admin.query('SELECT api_tokens::text FROM api_tokens')
  t.notMatch(JSON.stringify(rows), token)
  t.notMatch(test.log.join(''), token)
  t.same(await auditTrail(test), ['token-create done unlimited'])
})

t.test('expiry: 90 days by default, never in the past, at most 366 days', async (t) => {
  const { make } = await owner(test)
  const { answer } = await make()
  const days = (Date.parse(answer.json().expiresAt) - Date.parse(answer.json().createdAt)) / day
  t.equal(days, 90)
  const at = (ms: number) => new Date(Date.now() + ms).toISOString()
  for (const expiresAt of [at(60_000), at(365 * day)]) {
    t.equal((await make({ expiresAt })).answer.json().expiresAt, expiresAt)
  }
  const bad = [
    at(-1_000),
    at(367 * day),
    '2026-13-01T00:00:00Z',
    '2027-01-01',
    '1',
    '',
    '9999-12-31T23:59:60Z',
    null,
    5,
  ]
  for (const expiresAt of bad)
    t.equal((await make({ expiresAt })).answer.statusCode, 400, String(expiresAt))
  for (const body of [
    { name: '' },
    { name: 'x'.repeat(101) },
    { name: 'a\nb' },
    { userId: 1 },
    { permissions: 'x' },
    { permissions: undefined },
  ]) {
    t.equal((await make(body)).answer.statusCode, 400, JSON.stringify(body).slice(0, 40))
  }
})

t.test('a token never has more permissions than its owner, at creation or later', async (t) => {
  const viewer = await owner(test, { role: 'viewer' })
  t.equal((await viewer.make({ permissions: ['user:manage'] })).answer.statusCode, 403)
  t.equal((await viewer.make({ permissions: ['post:read', 'order:write'] })).answer.statusCode, 201)
  for (const permissions of [['post:destroy'], ['post:read', 'post:read'], ['__proto__'], [1]]) {
    t.equal((await viewer.make({ permissions })).answer.statusCode, 400, String(permissions))
  }
  const admin = await owner(test, { role: 'admin' })
  const tokens = [
    await admin.make(),
    await admin.make({ permissions: ['user:manage', 'order:read'] }),
  ]
  for (const { use } of tokens) t.equal((await use('GET', '/audit')).statusCode, 200)
  await test.database.admin.query(`UPDATE memberships SET role = 'viewer'`)
  for (const { use } of tokens)
    t.equal((await use('GET', '/audit')).statusCode, 403, 'the role is read for every request')
  t.same((await tokens[1]?.use('GET', '/me'))?.json().permissions, ['order:read'])
})

t.test('creating a token needs an authentication of the last five minutes', async (t) => {
  const test = await build(t)
  const { make, send, cookie } = await owner(test)
  await authenticatedAgo(test, 290)
  const { id, answer } = await make()
  t.equal(answer.statusCode, 201)
  await authenticatedAgo(test, 301)
  const refused = (await make()).answer
  t.equal(refused.statusCode, 403)
  t.match(refused.json(), { type: '/docs/errors/reauthentication-required' })
  const form = await test.app.inject({
    method: 'POST',
    url: '/app/account/tokens/new',
    headers: { cookie, accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'name=x&days=7&extent=all',
  })
  t.equal(form.statusCode, 403)
  t.match(form.body, 'href="/auth/login?reauthenticate=true&amp;', 'the page leads there')
  t.equal((await test.database.admin.query('SELECT FROM api_tokens')).rowCount, 1)
  t.equal((await send('DELETE', `/auth/tokens/${id}`)).statusCode, 204, 'deleting one does not')
})

t.test('a person has at most 50 tokens, in all tenants together', async (t) => {
  const { user, make, send } = await owner(test)
  const elsewhere = await createUser(test.database)
  await test.database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [elsewhere.tenantId, user.userId],
  )
  await test.database.admin.query(
    `INSERT INTO api_tokens (last_four, user_id, tenant_id, name, hash, expires_at)
     SELECT 'test', $1, $2, 'old', sha256(n::text::bytea), now() + interval '1 day'
     FROM generate_series(1, $3) AS n`,
    [user.userId, elsewhere.tenantId, maxTokens - 2],
  )
  const made = await Promise.all([1, 2, 3, 4].map(() => make()))
  const statuses = made.map(({ answer }) => answer.statusCode).toSorted()
  t.strictSame(statuses, [201, 201, 409, 409], 'also of several requests at once')
  t.match(made.find(({ answer }) => answer.statusCode === 409)?.answer.json(), {
    type: '/docs/errors/conflict',
    detail: /50 API tokens/,
  })
  const [one] = made.filter(({ answer }) => answer.statusCode === 201)
  t.equal((await send('DELETE', `/auth/tokens/${one?.id}`)).statusCode, 204)
  t.equal((await make()).answer.statusCode, 201, 'there is room again')
  t.equal((await (await owner(test)).make()).answer.statusCode, 201, 'another person has their own')
})

t.test('a token never gives more than it has', async (t) => {
  const admin = await owner(test, { role: 'admin' })
  const member = await createUser(test.database, { tenantId: admin.user.tenantId })
  const editor = ['user:manage', 'post:read', 'post:write']
  const cases: [string[] | undefined, string, boolean][] = [
    [['user:manage'], 'viewer', false],
    [['user:manage'], 'admin', false],
    [['user:manage', 'post:read'], 'viewer', true],
    [editor, 'editor', true],
    [editor, 'admin', false],
    [[...editor, 'post:delete'], 'admin', true],
    [undefined, 'admin', true],
  ]
  for (const [permissions, role, allowed] of cases) {
    const { use } = await admin.make(permissions === undefined ? {} : { permissions })
    const name = `${permissions ?? 'unlimited'}: ${role}`
    const open = { email: `open-${role}@example.com`, role }
    const { id } = (await admin.send('POST', '/users', open)).json()
    const again = await use('POST', '/app/tenant/invitations/resend', { id, role })
    t.equal(again.statusCode, allowed ? 303 : 403, name)
    const invited = await use('POST', '/users', { email: `${role}@example.com`, role })
    t.equal(invited.statusCode, allowed ? 201 : 403, name)
    const changed = await use('PATCH', `/users/${member.userId}`, { role })
    t.equal(changed.statusCode, allowed ? 200 : 403, name)
    const page = { email: `${role}@example.com`, role, department: '' }
    t.equal(
      (await use('POST', '/app/tenant/invitations/new', page)).statusCode,
      allowed ? 303 : 403,
      name,
    )
    const form = { id: String(member.userId), role, department: '' }
    t.equal(
      (await use('POST', '/app/tenant/members/change', form)).statusCode,
      allowed ? 303 : 403,
      name,
    )
    await test.database.admin.query(
      `UPDATE memberships SET role = 'viewer' WHERE user_id = ${member.userId}`,
    )
  }
})

t.test('a token ends with the membership or when it is deleted', async (t) => {
  const test = await build(t)
  const { user, send, make } = await owner(test)
  const { id, use } = await make()
  const kept = await make()
  t.equal((await send('DELETE', `/auth/tokens/${id}`)).statusCode, 204)
  t.equal((await use('GET', '/me')).statusCode, 401)
  t.equal((await kept.use('GET', '/me')).statusCode, 200)
  t.equal((await send('DELETE', `/auth/tokens/${id}`)).statusCode, 404)
  t.same((await auditTrail(test)).at(-1), 'token-delete done own-request')
  await test.database.admin.query('DELETE FROM memberships WHERE user_id = $1', [user.userId])
  t.equal((await kept.use('GET', '/me')).statusCode, 401)
  t.equal((await test.database.admin.query('SELECT FROM api_tokens')).rowCount, 0)
})

t.test('a token belongs to the tenant that was active at its creation', async (t) => {
  const { user, make, cookie } = await owner(test)
  const elsewhere = await createUser(test.database)
  await test.database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [elsewhere.tenantId, user.userId],
  )
  const { use } = await make()
  await as(test, { cookie })('POST', '/session/tenant', { tenantId: elsewhere.tenantId })
  t.match((await use('GET', '/me')).json(), { tenant: { id: user.tenantId } })
})

t.test('another user’s token is 404 like a missing one', async (t) => {
  const mine = await owner(test)
  const theirs = await owner(test, { tenantId: mine.user.tenantId })
  const { id, use } = await theirs.make()
  for (const method of ['GET', 'DELETE'] as const) {
    const foreign = await mine.send(method, `/auth/tokens/${id}`)
    const missing = await mine.send(method, `/auth/tokens/${crypto.randomUUID()}`)
    t.equal(foreign.statusCode, 404)
    t.same({ ...foreign.json(), instance: '' }, { ...missing.json(), instance: '' })
    t.equal((await mine.send(method, '/auth/tokens/1')).statusCode, 400)
  }
  t.same((await mine.send('GET', '/auth/tokens')).json().data, [])
  t.equal((await use('GET', '/me')).statusCode, 200)
})

t.test('a user without a tenant cannot create a token', async (t) => {
  const { userId } = await createUser(test.database)
  const { cookie } = await signIn(test, { userId, tenantId: null })
  t.equal(
    (await as(test, { cookie })('POST', '/auth/tokens', { name: 'x', permissions: null }))
      .statusCode,
    403,
  )
})
