import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { authenticatedAgo } from '#test/support/callers/account.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { eraseAll } from './support.ts'

/** For the tests that look at tenants of their own only. */
const test = await build(t)

const confirmed = { confirm: 'delete' }

t.test(
  'a person deletes their account: access ends at once, and nothing of it is left',
  async (t) => {
    const { user, send, make } = await owner(test, { role: 'admin', email: 'ada@example.com' })
    const { use } = await make()
    const other = as(test, { cookie: (await signIn(test, user)).cookie })
    t.equal((await use('GET', '/me')).statusCode, 200)
    const answer = await send('POST', '/auth/account/delete', confirmed)
    t.equal(answer.statusCode, 204)
    t.match(answer.headers['set-cookie'], /^sid=;/, 'the cookie is cleared')
    for (const attempt of [send, other, use]) {
      t.equal((await attempt('GET', '/me')).statusCode, 401)
    }
    t.equal(await countOf(test, 'users WHERE id = $1', user.userId), 0)
    t.equal(
      await countOf(test, `erasures WHERE kind = 'tenant' AND tenant_id = $1`, user.tenantId),
      1,
    )
    await eraseAll(test.database)
    t.equal(await countOf(test, 'tenants WHERE id = $1', user.tenantId), 0, 'they were alone in it')
    const { rows } = await test.database.admin.query(
      `SELECT action, outcome, ip, user_agent, tenant_id FROM audit_log WHERE user_id = $1
     ORDER BY id DESC LIMIT 1`,
      [user.userId],
    )
    t.strictSame(rows, [
      { action: 'account-delete', outcome: 'done', ip: null, user_agent: null, tenant_id: null },
    ])
  },
)

t.test('deleting an account needs the confirmation and a recent authentication', async (t) => {
  const { user, send, make } = await owner(test, { role: 'admin' })
  const { use } = await make()
  for (const body of [{}, { confirm: 'yes' }, { confirm: 'delete', more: 1 }]) {
    t.equal((await send('POST', '/auth/account/delete', body)).statusCode, 400)
  }
  t.equal((await use('POST', '/auth/account/delete', confirmed)).statusCode, 403, 'a token')
  await authenticatedAgo(test, 301)
  const late = await send('POST', '/auth/account/delete', confirmed)
  t.equal(late.statusCode, 403)
  t.match(late.json().type, 'reauthentication-required')
  t.equal(await countOf(test, 'users WHERE id = $1', user.userId), 1)
})

t.test(
  'the last admin of a tenant with other members keeps the account, and learns how to go on',
  async (t) => {
    const { user, send } = await owner(test, { role: 'admin' })
    const member = await createUser(test.database, { tenantId: user.tenantId })
    const { rows } = await test.database.admin.query('SELECT name FROM tenants WHERE id = $1', [
      user.tenantId,
    ])
    const refused = await send('POST', '/auth/account/delete', confirmed)
    t.equal(refused.statusCode, 409)
    t.match(refused.json(), {
      type: '/docs/errors/last-admin',
      detail: `Make another member an admin first, or delete the tenant: “${rows[0]?.name}”.`,
    })
    t.equal((await send('GET', '/me')).statusCode, 200)
    await test.database.admin.query(`UPDATE memberships SET role = 'admin' WHERE user_id = $1`, [
      member.userId,
    ])
    t.equal((await send('POST', '/auth/account/delete', confirmed)).statusCode, 204)
    t.equal(await countOf(test, 'memberships WHERE tenant_id = $1', user.tenantId), 1)
    const renamed = await test.database.admin.query('SELECT name FROM tenants WHERE id = $1', [
      user.tenantId,
    ])
    t.strictSame(renamed.rows, [{ name: `Tenant ${user.tenantId.slice(0, 8)}` }])
  },
)

t.test(
  'provider tokens of a deleted account are handed to the job that revokes them',
  async (t) => {
    const { user, send } = await owner(test, { role: 'admin' })
    const { admin } = test.database
    await admin.query(
      `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer)
     VALUES ('demo', 'ada', $1, 'https://op.example')`,
      [user.userId],
    )
    await admin.query(
      `INSERT INTO provider_grants (provider, provider_user_id, access_token, refresh_token, scope)
     VALUES ('demo', 'ada', 'x', 'y', 'openid')`,
    )
    t.equal((await send('POST', '/auth/account/delete', confirmed)).statusCode, 204)
    t.equal(await countOf(test, 'provider_grants WHERE provider = $1', 'demo'), 0)
    const { rows } = await admin.query(
      `SELECT r.kind, r.status, r.tenant_id, j.name FROM token_revocations r
     JOIN pgboss.job j ON j.data ->> 'revocationId' = r.id::text`,
    )
    t.strictSame(rows, [
      { kind: 'refresh_token', status: 'revoking', tenant_id: null, name: 'revoke-grant' },
    ])
  },
)

t.test('a person who loses their last tenant is erased in the same way', async (t) => {
  const { database } = test
  const { user, send } = await owner(test, { role: 'admin' })
  const email = 'ada@example.com'
  const facts = { tenantId: user.tenantId, email, emailVerified: true }
  const member = await createUser(database, facts)
  await createOrder(database, member)
  const waiting = await createUser(database)
  await database.admin.query(
    `INSERT INTO invitations (tenant_id, email, role, expires_at, accepted_at)
     VALUES ($1, $3, 'viewer', now() + interval '1 day', now()),
            ($2, $3, 'viewer', now() + interval '1 day', NULL)`,
    [user.tenantId, waiting.tenantId, email],
  )
  t.equal((await send('DELETE', `/users/${member.userId}`)).statusCode, 204)
  const invitations = await database.admin.query('SELECT tenant_id FROM invitations')
  t.strictSame(invitations.rows, [{ tenant_id: waiting.tenantId }], 'the open one stays')
  const { rows } = await database.admin.query(
    'SELECT kind, tenant_id FROM erasures WHERE user_id = $1 ORDER BY id',
    [member.userId],
  )
  t.strictSame(rows, [
    { kind: 'member', tenant_id: user.tenantId },
    { kind: 'person', tenant_id: null },
  ])
  await eraseAll(database)
})

t.test('the account page offers the download and the deletion', async (t) => {
  const { user, cookie, send } = await owner(test, { role: 'admin' })
  const page = await test.app.inject({
    url: '/app/account',
    headers: { cookie, accept: 'text/html' },
  })
  t.match(page.body, 'href="/auth/account/export"')
  t.match(page.body, 'action="/app/account/delete"')
  const answer = await send('POST', '/app/account/delete', confirmed)
  t.equal(answer.statusCode, 303)
  t.equal(answer.headers.location, '/auth/signed-out')
  t.equal(await countOf(test, 'users WHERE id = $1', user.userId), 0)
})

async function countOf({ database }: TestApp, where: string, value: unknown): Promise<number> {
  const { rows } = await database.admin.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${where}`,
    [value],
  )
  return rows[0]?.count ?? -1
}
