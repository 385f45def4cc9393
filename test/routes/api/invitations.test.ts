import t from 'tap'
import { comparable } from '#dev/testing/access/request.ts'
import { as, createUser } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { badPageQueries, pagesOf } from '#test/support/app/probes.ts'
import { owner } from '#test/support/callers/token-owner.ts'

const invitationKeys = [
  'id',
  'email',
  'role',
  'department',
  'invitedBy',
  'createdAt',
  'expiresAt',
  'acceptedAt',
]

const test = await build(t)

t.test('an address is invited; a second invitation replaces the first', async (t) => {
  const test = await build(t)
  const { user, send } = await owner(test, { role: 'admin' })
  const first = await send('POST', '/users', { email: 'Ada@Example.com', role: 'viewer' })
  t.equal(first.statusCode, 201)
  t.strictSame(Object.keys(first.json()), [...invitationKeys, 'url'])
  t.match(first.json(), {
    email: 'ada@example.com',
    role: 'viewer',
    department: null,
    invitedBy: user.userId,
    acceptedAt: null,
  })
  const second = { email: 'ada@example.com', role: 'editor', department: 'sales' }
  t.equal((await send('POST', '/users', second)).statusCode, 201)
  const { data } = (await send('GET', '/invitations')).json()
  t.match(data, [second])
  t.equal(data.length, 1)
  t.not(data[0].id, first.json().id, 'nobody accepts a role that they have not seen')
})

t.test('an invitation tells nothing about who has the address', async (t) => {
  const test = await build(t)
  const admin = await owner(test, { role: 'admin' })
  const { tenantId } = admin.user
  const known = await owner(test, { email: 'ada@example.com', emailVerified: true })
  const invite = (email: string) => admin.send('POST', '/users', { email, role: 'editor' })
  const answers = [await invite('ADA@example.com'), await invite('nobody@example.com')]
  for (const answer of answers) {
    t.equal(answer.statusCode, 201)
    t.match(answer.json(), { role: 'editor', acceptedAt: null })
  }
  t.equal((await admin.send('GET', '/invitations')).json().data.length, 2)
  t.equal((await admin.send('GET', '/users')).json().data.length, 1, 'nobody has joined')
  t.equal((await known.send('GET', '/tenants')).json().data.length, 1)
  const { rows } = await test.database.admin.query(
    `SELECT DISTINCT action, user_id::int FROM audit_log WHERE tenant_id = $1`,
    [tenantId],
  )
  t.strictSame(rows, [{ action: 'invitation-create', user_id: admin.user.userId }])
})

t.test('409 for the verified address of a member', async (t) => {
  const { user, send } = await owner(test, { role: 'admin' })
  const { tenantId } = user
  await createUser(test.database, { tenantId, email: 'Ada@example.com', emailVerified: true })
  await createUser(test.database, { tenantId, email: 'eve@example.com' })
  const again = await send('POST', '/users', { email: 'ada@EXAMPLE.com', role: 'admin' })
  t.equal(again.statusCode, 409)
  t.match(again.json(), { type: '/docs/errors/conflict', detail: /already a member/ })
  const claimed = await send('POST', '/users', { email: 'eve@example.com', role: 'viewer' })
  t.equal(claimed.statusCode, 201, 'an address that is only claimed keeps nobody out')
})

t.test('an invitation ends when its inviter is demoted or removed', async (t) => {
  const test = await build(t)
  const admin = await owner(test, { role: 'admin' })
  const { tenantId } = admin.user
  await admin.send('POST', '/users', { email: 'kept@example.com', role: 'viewer' })
  const endings = [
    (id: number) => admin.send('PATCH', `/users/${id}`, { role: 'editor' }),
    (id: number) => admin.send('DELETE', `/users/${id}`),
  ]
  for (const [index, end] of endings.entries()) {
    const inviter = await owner(test, { role: 'admin', tenantId })
    const email = `${index}@example.com`
    const { id } = (await inviter.send('POST', '/users', { email, role: 'admin' })).json()
    await admin.send('PATCH', `/users/${inviter.user.userId}`, { department: 'sales' })
    t.equal((await admin.send('GET', '/invitations')).json().data.length, 2, 'still an admin')
    await end(inviter.user.userId)
    const { data } = (await admin.send('GET', '/invitations')).json()
    t.match(data, [{ email: 'kept@example.com' }])
    t.equal(data.length, 1)
    const { rows } = await test.database.admin.query(
      `SELECT reason, user_id::int FROM audit_log WHERE action = 'invitation-delete' AND target = $1`,
      [id],
    )
    t.strictSame(rows, [{ reason: 'inviter-gone', user_id: admin.user.userId }])
  }
})

t.test('an open invitation is withdrawn in its tenant only', async (t) => {
  const test = await build(t)
  const { user, send } = await owner(test, { role: 'admin' })
  const stranger = await owner(test, { role: 'admin' })
  const { id } = (await send('POST', '/users', { email: 'a@example.com', role: 'viewer' })).json()
  const url = `/invitations/${id}`
  const foreign = await stranger.send('DELETE', url)
  const missing = await stranger.send('DELETE', `/invitations/${crypto.randomUUID()}`)
  t.equal(foreign.statusCode, 404)
  t.strictSame(comparable(foreign), comparable(missing))
  t.strictSame((await stranger.send('GET', '/invitations')).json(), { data: [], nextCursor: null })

  await test.database.admin.query('UPDATE invitations SET accepted_at = now()')
  t.equal((await send('DELETE', url)).statusCode, 404)
  await test.database.admin.query('UPDATE invitations SET accepted_at = NULL')
  t.equal((await send('DELETE', url)).statusCode, 204)
  t.equal((await send('DELETE', url)).statusCode, 404)
  t.equal((await test.database.admin.query('SELECT FROM invitations')).rowCount, 0)
  const { rows } = await test.database.admin.query(
    `SELECT user_id::int, tenant_id, outcome, reason, target FROM audit_log
     WHERE action = 'invitation-delete'`,
  )
  const entry = { outcome: 'done', reason: 'withdrawn', target: id }
  t.strictSame(rows, [{ user_id: user.userId, tenant_id: user.tenantId, ...entry }])
})

t.test('the list is newest first, and new invitations do not shift pages', async (t) => {
  const { send } = await owner(test, { role: 'admin' })
  let made = 0
  const invite = async () => {
    made += 1
    return (await send('POST', '/users', { email: `${made}@example.com`, role: 'viewer' })).json()
  }
  const ids: string[] = []
  for (const _ of Array.from({ length: 5 })) ids.unshift((await invite()).id)
  const pages = await pagesOf(send, '/invitations', invite)
  const listed = pages.flatMap(({ data }) => data)
  t.strictSame(
    listed.map(({ id }) => id),
    ids,
  )
  for (const one of listed) t.strictSame(Object.keys(one), invitationKeys)
  for (const query of badPageQueries) {
    t.equal((await send('GET', `/invitations?${query}`)).statusCode, 400, query)
  }
})

t.test('a token manages users if it names the permission and its owner has it', async (t) => {
  const { user, make } = await owner(test, { role: 'admin' })
  const second = await owner(test, { role: 'admin', tenantId: user.tenantId })
  const unlimited = await make()
  // It gives the role editor, so it has what an editor has.
  const permissions = ['user:manage', 'post:read', 'post:write']
  const limited = await make({ permissions })
  for (const { use } of [unlimited, limited]) {
    const { userId } = await createUser(test.database, { tenantId: user.tenantId })
    const invited = await use('POST', '/users', { email: 'a@example.com', role: 'viewer' })
    t.equal(invited.statusCode, 201)
    t.equal((await use('GET', '/users')).statusCode, 200)
    t.equal((await use('PATCH', `/users/${userId}`, { role: 'editor' })).statusCode, 200)
    t.equal((await use('DELETE', `/users/${userId}`)).statusCode, 204)
    t.equal((await use('DELETE', `/invitations/${invited.json().id}`)).statusCode, 204)
  }
  t.equal((await limited.use('GET', '/invoices')).statusCode, 403)
  await second.send('PATCH', `/users/${user.userId}`, { role: 'editor' })
  for (const { use } of [unlimited, limited]) {
    t.equal((await use('GET', '/users')).statusCode, 403)
  }
})

t.test('the API rate limit counts users and invitations too', async (t) => {
  const test = await build(t, { RATE_LIMIT_API: '2/60' })
  const { cookie } = await owner(test, { role: 'admin' })
  const send = as(test, { cookie })
  t.equal((await send('GET', '/users')).statusCode, 200)
  t.equal((await send('GET', '/invitations')).statusCode, 200)
  t.equal((await send('POST', '/users', { email: 'a@b.example', role: 'admin' })).statusCode, 429)
})
