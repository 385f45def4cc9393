import t from 'tap'
import { comparable } from '#dev/testing/access/request.ts'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { eraseAll } from '#test/auth/erasure/support.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { badPageQueries, pagesOf } from '#test/support/app/probes.ts'
import { createTestPost } from '#test/support/callers/objects.ts'
import { owner } from '#test/support/callers/token-owner.ts'

const userKeys = ['id', 'email', 'role', 'department', 'billingCustomer', 'createdAt']

async function join(test: TestApp, userId: number, tenantId: string, role = 'viewer') {
  await test.database.admin.query(
    'INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, $3)',
    [tenantId, userId, role],
  )
}

async function trail({ database }: TestApp, target: number): Promise<string[]> {
  const { rows } = await database.admin.query<{ line: string }>(
    `SELECT concat_ws(' ', action, outcome, reason, user_id) AS line FROM audit_log
     WHERE target = $1 ORDER BY id`,
    [String(target)],
  )
  return rows.map(({ line }) => line)
}

/** For every test that changes nothing outside of tenants and users of its own. */
const test = await build(t)

t.test('an admin sees only the members of their tenant', async (t) => {
  const { user, send } = await owner(test, { role: 'admin', billingCustomer: 'cus_own' })
  const { tenantId } = user
  await createUser(test.database, { role: 'admin' })
  const guest = await createUser(test.database, {
    email: 'g@example.com',
    billingCustomer: 'cus_g',
  })
  await join(test, guest.userId, tenantId, 'editor')
  const answer = await send('GET', '/users')
  t.equal(answer.statusCode, 200)
  const { data, nextCursor } = answer.json()
  t.equal(nextCursor, null)
  t.match(data, [
    {
      id: guest.userId,
      email: 'g@example.com',
      role: 'editor',
      department: null,
      billingCustomer: null,
    },
    { id: user.userId, email: null, role: 'admin', billingCustomer: 'cus_own' },
  ])
  t.equal(data.length, 2)
  for (const one of data) t.strictSame(Object.keys(one).toSorted(), userKeys.toSorted())
})

t.test('the list is paged, and new members do not shift pages', async (t) => {
  const { user, send } = await owner(test, { role: 'admin' })
  const ids = [user.userId]
  for (const _ of Array.from({ length: 4 })) {
    ids.unshift((await createUser(test.database, { tenantId: user.tenantId })).userId)
    await createUser(test.database)
  }
  const pages = await pagesOf(send, '/users', () =>
    createUser(test.database, { tenantId: user.tenantId }),
  )
  const listed = pages.flatMap(({ data }) => data.map(({ id }) => id))
  t.strictSame(listed, ids)
  for (const query of badPageQueries) {
    t.equal((await send('GET', `/users?${query}`)).statusCode, 400, query)
  }
})

t.test('403 without user:manage or an active tenant', async (t) => {
  const test = await build(t)
  const host = await owner(test, { role: 'admin' })
  const { tenantId } = host.user
  const editor = await owner(test, { role: 'editor', tenantId })
  const viewer = await owner(test, { role: 'viewer', tenantId })
  const nowhere = as(test, await signIn(test, { userId: host.user.userId, tenantId: null }))
  const limited = await host.make({ permissions: ['post:read', 'post:delete'] })
  const requests = [
    ['GET', '/users'],
    ['POST', '/users', { email: 'a@example.com', role: 'admin' }],
    ['PATCH', `/users/${viewer.user.userId}`, { role: 'admin' }],
    ['DELETE', `/users/${viewer.user.userId}`],
    ['DELETE', '/users/987654321'],
    ['DELETE', '/users/x'],
    ['GET', '/invitations'],
    ['DELETE', `/invitations/${crypto.randomUUID()}`],
  ] as const
  for (const [method, url, body] of requests) {
    for (const send of [editor.send, viewer.send, nowhere, limited.use]) {
      t.equal((await send(method, url, body)).statusCode, 403, `${method} ${url}`)
    }
    t.equal((await as(test, {})(method, url, body)).statusCode, 401, `${method} ${url}`)
  }
  const { rows } = await test.database.admin.query('SELECT role FROM memberships ORDER BY role')
  t.strictSame(rows, [{ role: 'admin' }, { role: 'editor' }, { role: 'viewer' }])
})

t.test(
  'a user of another tenant is the same 404 as a missing one, and stays unchanged',
  async (t) => {
    const { send } = await owner(test, { role: 'admin' })
    const stranger = await owner(test, { role: 'viewer' })
    const url = `/users/${stranger.user.userId}`
    const requests = [
      ['PATCH', { role: 'admin' }],
      ['PATCH', { department: 'sales' }],
      ['DELETE', undefined],
    ] as const
    for (const [method, body] of requests) {
      const foreign = await send(method, url, body)
      t.equal(foreign.statusCode, 404)
      t.strictSame(comparable(foreign), comparable(await send(method, '/users/987654321', body)))
    }
    const { rows } = await test.database.admin.query(
      `SELECT m.role, m.department, u.billing_customer FROM memberships m
     JOIN users u ON u.id = m.user_id WHERE m.user_id = $1`,
      [stranger.user.userId],
    )
    t.strictSame(rows, [{ role: 'viewer', department: null, billing_customer: null }])
    t.equal((await stranger.send('GET', '/posts')).statusCode, 200, 'their session still works')
  },
)

t.test('a change of role takes effect with the member’s next request', async (t) => {
  const admin = await owner(test, { role: 'admin' })
  const { tenantId } = admin.user
  const member = await owner(test, { role: 'viewer', tenantId })
  const token = await member.make()
  const url = `/users/${member.user.userId}`
  const steps = [
    [{ role: 'editor' }, 'editor', null, 201],
    [{ department: 'sales' }, 'editor', 'sales', 201],
    [{ role: 'admin', department: null }, 'admin', null, 201],
    [{ role: 'viewer' }, 'viewer', null, 403],
  ] as const
  for (const [change, role, department, status] of steps) {
    const answer = await admin.send('PATCH', url, change)
    t.equal(answer.statusCode, 200)
    t.match(answer.json(), { id: member.user.userId, role, department })
    t.strictSame(Object.keys(answer.json()).toSorted(), userKeys.toSorted())
    for (const send of [member.send, token.use]) {
      t.match((await send('GET', '/me')).json(), { role, department })
      const made = await send('POST', '/posts', { title: 'a', body: 'b' })
      t.equal(made.statusCode, status, role)
      t.equal((await send('GET', '/users')).statusCode, role === 'admin' ? 200 : 403)
    }
  }
  const by = admin.user.userId
  t.strictSame(await trail(test, member.user.userId), [
    `user-update done role-editor ${by}`,
    `user-update done department ${by}`,
    `user-update done role-admin ${by}`,
    `user-update done department ${by}`,
    `user-update done role-viewer ${by}`,
  ])
})

t.test('a role is changed in this tenant only', async (t) => {
  const { user, send } = await owner(test, { role: 'admin' })
  const guest = await owner(test, { role: 'admin', department: 'own' })
  await join(test, guest.user.userId, user.tenantId)
  const change = { role: 'editor', department: 'sales' }
  t.equal((await send('PATCH', `/users/${guest.user.userId}`, change)).statusCode, 200)
  t.match((await guest.send('GET', '/me')).json(), { role: 'admin', department: 'own' })
})

t.test('a removed member loses everything in the tenant, and nothing elsewhere', async (t) => {
  const admin = await owner(test, { role: 'admin' })
  const { tenantId } = admin.user
  const guest = await owner(test, { role: 'admin' })
  await join(test, guest.user.userId, tenantId, 'admin')
  const here = await signIn(test, { ...guest.user, tenantId })
  const inTenant = as(test, here)
  const { token } = (
    await inTenant('POST', '/auth/tokens', { name: 'ci', permissions: null })
  ).json()
  const byToken = as(test, { authorization: `Bearer ${token}` })
  const { id } = (await inTenant('POST', '/posts', { title: 'a', body: 'b' })).json()
  const elsewhere = await guest.make()
  t.equal((await byToken('GET', '/users')).statusCode, 200)

  t.equal((await admin.send('DELETE', `/users/${guest.user.userId}`)).statusCode, 204)
  t.equal((await inTenant('GET', '/me')).statusCode, 401)
  t.equal((await byToken('GET', '/me')).statusCode, 401)
  t.equal((await guest.send('GET', '/me')).statusCode, 200, 'the session in their own tenant works')
  t.equal(
    (await elsewhere.use('GET', '/me')).statusCode,
    200,
    'the token of their own tenant works',
  )
  const back = await guest.send('POST', '/session/tenant', { tenantId })
  t.equal(back.statusCode, 404, 'they cannot return')
  await eraseAll(test.database)
  t.equal((await admin.send('GET', `/posts/${id}`)).json().authorId, null, 'the post stays')
  t.equal((await admin.send('DELETE', `/users/${guest.user.userId}`)).statusCode, 404, 'once')
  t.strictSame(await trail(test, guest.user.userId), [
    `user-remove done member-elsewhere ${admin.user.userId}`,
  ])
})

t.test('the user is deleted with the last membership', async (t) => {
  const test = await build(t)
  const admin = await owner(test, { role: 'admin' })
  const member = await owner(test, { role: 'editor', tenantId: admin.user.tenantId })
  const anonymous = await signIn(test, { userId: member.user.userId, tenantId: null })
  await createTestPost(test.database, admin.user.tenantId)
  await test.database.admin.query(
    `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer)
     VALUES ('demo', 'member', $1, 'https://op.example')`,
    [member.user.userId],
  )
  await test.database.admin.query(
    `INSERT INTO provider_grants (provider, provider_user_id, access_token, refresh_token, scope)
     VALUES ('demo', 'member', 'sealed', 'sealed', 'openid')`,
  )
  t.equal((await admin.send('DELETE', `/users/${member.user.userId}`)).statusCode, 204)
  t.equal((await as(test, anonymous)('GET', '/me')).statusCode, 401)
  const count = async (sql: string) => (await test.database.admin.query(sql)).rowCount
  t.equal(await count(`SELECT FROM users WHERE id = ${member.user.userId}`), 0)
  t.equal(await count('SELECT FROM oauth_identities'), 0)
  t.equal(await count(`SELECT FROM token_revocations WHERE status = 'revoking'`), 1)
  t.equal(await count(`SELECT FROM pgboss.job WHERE name = 'revoke-grant'`), 1)
  t.strictSame(await trail(test, member.user.userId), [
    `user-remove done last-membership ${admin.user.userId}`,
  ])
})

t.test(
  'a member’s date is that of the membership, and the newest members come first',
  async (t) => {
    const { user, send } = await owner(test, { role: 'admin' })
    const older = await createUser(test.database, { tenantId: user.tenantId })
    const newer = await createUser(test.database, { tenantId: user.tenantId })
    const joined = async (userId: number, at: string) =>
      test.database.admin.query('UPDATE memberships SET created_at = $2 WHERE user_id = $1', [
        userId,
        at,
      ])
    await joined(older.userId, '2026-03-01T00:00:00Z')
    await joined(newer.userId, '2026-02-01T00:00:00Z')
    await joined(user.userId, '2026-01-01T00:00:00Z')
    const { data } = (await send('GET', '/users')).json()
    t.match(data, [
      { id: older.userId, createdAt: '2026-03-01T00:00:00.000Z' },
      { id: newer.userId, createdAt: '2026-02-01T00:00:00.000Z' },
      { id: user.userId, createdAt: '2026-01-01T00:00:00.000Z' },
    ])
  },
)

t.test('members are searched by part of their address or by id, in the tenant only', async (t) => {
  const { user, send } = await owner(test, { role: 'admin', email: 'boss@example.com' })
  const { tenantId } = user
  const ada = await createUser(test.database, { tenantId, email: 'Ada@Example.com' })
  const odd = await createUser(test.database, { tenantId, email: '100%_@example.org' })
  await createUser(test.database, { email: 'ada@elsewhere.example' })
  const search = async (text: string) => {
    const answer = await send('GET', `/users?search=${encodeURIComponent(text)}`)
    return answer.json().data.map(({ id }: { id: number }) => id)
  }
  t.strictSame(await search('aDA'), [ada.userId])
  t.strictSame(await search('%_'), [odd.userId])
  t.strictSame(await search(String(ada.userId)), [ada.userId])
  t.strictSame(await search('@example'), [odd.userId, ada.userId, user.userId])
  t.strictSame(await search('nobody'), [])
  for (const bad of ['', '%20', '%00']) {
    t.equal((await send('GET', `/users?search=${bad}`)).statusCode, 400, bad)
  }
})
