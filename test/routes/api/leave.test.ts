import t, { type Test } from 'tap'
import { comparable } from '#dev/testing/access/request.ts'
import { as, createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { visit } from '#test/support/provider/sign-in-journey.ts'

async function join({ database }: TestApp, user: TestUser, tenantId: string, role = 'viewer') {
  await database.admin.query(
    'INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, $3)',
    [tenantId, user.userId, role],
  )
}

/** A member of two tenants, signed in to their own. */
async function setUp(t: Test, role = 'viewer') {
  const test = await build(t)
  const admin = await owner(test, { role: 'admin' })
  const member = await owner(test, { role: 'admin' })
  const { tenantId } = admin.user
  await join(test, member.user, tenantId, role)
  return { test, admin, member, tenantId, url: `/tenants/${tenantId}/membership` }
}

t.test('a member leaves a tenant and loses what they have there', async (t) => {
  const { test, admin, member, tenantId, url } = await setUp(t, 'admin')
  const there = await signIn(test, { ...member.user, tenantId })
  const inTenant = as(test, there)
  const invited = await inTenant('POST', '/users', { email: 'a@example.com', role: 'viewer' })
  t.equal((await member.send('DELETE', url)).statusCode, 204)
  t.equal((await member.send('GET', '/me')).statusCode, 200, 'the session elsewhere goes on')
  t.equal((await inTenant('GET', '/me')).statusCode, 401)
  t.equal((await admin.send('GET', '/users')).json().data.length, 1)
  t.strictSame((await admin.send('GET', '/invitations')).json().data, [], 'nor do they invite')
  const { data } = (await admin.send('GET', '/audit')).json()
  t.match(data, [
    { action: 'invitation-delete', reason: 'inviter-gone', target: invited.json().id },
    { action: 'tenant-leave', outcome: 'done', userId: member.user.userId, target: tenantId },
  ])
  const again = await member.send('DELETE', url)
  t.equal(again.statusCode, 404)
  const missing = await member.send('DELETE', `/tenants/${crypto.randomUUID()}/membership`)
  t.strictSame(comparable(again), comparable(missing))
  t.equal((await member.send('DELETE', '/tenants/x/membership')).statusCode, 400)
})

t.test('who leaves the active tenant goes on in another one, under a new id', async (t) => {
  const { test, member, tenantId, url } = await setUp(t)
  const { cookie } = await signIn(test, { ...member.user, tenantId })
  const browser = { cookie }
  const left = await visit(test.app, browser, url, { method: 'DELETE' })
  t.equal(left.statusCode, 204)
  t.not(browser.cookie, cookie)
  const { tenant } = (await visit(test.app, browser, '/me')).json()
  t.equal(tenant.id, member.user.tenantId)
  t.equal((await as(test, { cookie })('GET', '/me')).statusCode, 401, 'the former id has ended')
})

t.test(
  'the last admin cannot leave, a token cannot, and a stranger has nothing to leave',
  async (t) => {
    const { test, admin, url } = await setUp(t)
    const refused = await admin.send('DELETE', url)
    t.equal(refused.statusCode, 409)
    t.match(refused.json(), { type: '/docs/errors/last-admin' })
    t.equal((await admin.send('GET', '/me')).statusCode, 200)
    const { use } = await admin.make()
    t.equal((await use('DELETE', url)).statusCode, 403)
    const stranger = await owner(test, { role: 'admin' })
    t.equal((await stranger.send('DELETE', url)).statusCode, 404)
    const { rows } = await test.database.admin.query(
      `SELECT action, outcome, reason FROM audit_log WHERE action = 'tenant-leave'`,
    )
    t.strictSame(rows, [{ action: 'tenant-leave', outcome: 'refused', reason: 'last-admin' }])
  },
)

t.test('with the last membership the user is deleted', async (t) => {
  const { test, admin, tenantId, url } = await setUp(t)
  const member = await owner(test, { tenantId })
  const left = await member.send('DELETE', url)
  t.equal(left.statusCode, 204)
  t.match(left.headers['set-cookie'], /^sid=;/)
  const { userId } = member.user
  const { rowCount } = await test.database.admin.query('SELECT FROM users WHERE id = $1', [userId])
  t.equal(rowCount, 0)
  const { data } = (await admin.send('GET', '/audit')).json()
  t.match(data, [{ action: 'tenant-leave', reason: 'last-membership', userId }])
})

t.test('when all admins leave at once, one stays', async (t) => {
  const test = await build(t)
  for (const _ of Array.from({ length: 6 })) {
    const first = await owner(test, { role: 'admin' })
    const { tenantId } = first.user
    const others = [await owner(test, { role: 'admin' }), await owner(test, { role: 'admin' })]
    for (const { user } of others) await join(test, user, tenantId, 'admin')
    const url = `/tenants/${tenantId}/membership`
    const active = others.map(({ user }) => signIn(test, { ...user, tenantId }))
    const sends = (await Promise.all(active)).map((cookie) => as(test, cookie))
    const answers = await Promise.all([first.send, ...sends].map((send) => send('DELETE', url)))
    t.strictSame(answers.map(({ statusCode }) => statusCode).toSorted(), [204, 204, 409])
    const { rowCount } = await test.database.admin.query(
      'SELECT FROM memberships WHERE tenant_id = $1',
      [tenantId],
    )
    t.equal(rowCount, 1)
  }
})

t.test('leaving and being demoted at once leaves an admin', async (t) => {
  const test = await build(t)
  for (const _ of Array.from({ length: 6 })) {
    const first = await owner(test, { role: 'admin' })
    const { tenantId } = first.user
    const second = await createUser(test.database, { role: 'admin', tenantId })
    const [left, demoted] = await Promise.all([
      first.send('DELETE', `/tenants/${tenantId}/membership`),
      first.send('PATCH', `/users/${second.userId}`, { role: 'viewer' }),
    ])
    t.ok(left.statusCode === 204 || left.statusCode === 409, `${left.statusCode}`)
    t.equal(demoted.statusCode, left.statusCode === 204 ? 401 : 200)
    const { rowCount } = await test.database.admin.query(
      `SELECT FROM memberships WHERE tenant_id = $1 AND role = 'admin'`,
      [tenantId],
    )
    t.equal(rowCount, 1)
  }
})
