import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { authenticatedAgo } from '#test/support/callers/account.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { eraseAll } from './support.ts'

const path = '/session/tenant/delete'

t.test(
  'an admin deletes their tenant: nobody gets in any more, and the session moves on',
  async (t) => {
    const test = await build(t)
    const { database } = test
    const { user, send, make } = await owner(test, { role: 'admin' })
    const { use } = await make()
    const member = await createUser(database, { tenantId: user.tenantId })
    const colleague = as(test, { cookie: (await signIn(test, member)).cookie })
    const next = await createUser(database, { role: 'admin' })
    await database.admin.query(
      `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
      [next.tenantId, user.userId],
    )
    await database.admin.query(
      `WITH endpoint AS (
         INSERT INTO webhook_endpoints (tenant_id, id, url, signature, secret)
         VALUES ($1, $1, 'https://receiver.example', 'spec', ''))
       INSERT INTO endpoint_states (tenant_id, id) VALUES ($1, $1)`,
      [user.tenantId],
    )
    await database.admin.query(
      `UPDATE users SET plan = 'pro', subscription_status = 'active' WHERE id = ANY ($1)`,
      [[user.userId, next.userId]],
    )
    const answer = await send('POST', path, { name: nameOf(user.tenantId) })
    t.equal(answer.statusCode, 204, answer.body)
    t.equal((await send('GET', '/me')).statusCode, 401, 'the session has a new id')
    const moved = as(test, { cookie: cookieOf(answer.headers['set-cookie']) })
    t.match((await moved('GET', '/me')).json(), {
      tenant: { id: next.tenantId },
      role: 'viewer',
      plan: null,
      subscription: null,
    })
    const plans = await database.admin.query('SELECT id::int FROM users WHERE plan IS NOT NULL')
    t.strictSame(plans.rows, [{ id: next.userId }], 'a plan ends with the tenant of its user')
    for (const attempt of [use, colleague]) t.equal((await attempt('GET', '/me')).statusCode, 401)
    await eraseAll(database)
    const endpoints = await database.admin.query('SELECT FROM webhook_endpoints')
    t.equal(endpoints.rowCount, 0)
    const users = await database.admin.query<{ id: string }>('SELECT id FROM users ORDER BY id')
    t.strictSame(
      users.rows.map(({ id }) => Number(id)),
      [user.userId, next.userId],
      'a member without another tenant is gone',
    )
  },
)

t.test('an admin without another tenant is signed out, and their account is gone', async (t) => {
  const test = await build(t)
  const { user, cookie } = await owner(test, { role: 'admin' })
  const page = await test.app.inject({ url: '/app/tenant', headers: { cookie } })
  t.match(page.body, 'action="/app/tenant/delete"')
  const answer = await as(test, { cookie })('POST', '/app/tenant/delete', {
    name: nameOf(user.tenantId),
  })
  t.equal(answer.statusCode, 303)
  t.equal(answer.headers.location, '/auth/signed-out')
  t.match(answer.headers['set-cookie'], /^sid=;/)
  const { rows } = await test.database.admin.query('SELECT FROM users')
  t.equal(rows.length, 0)
})

t.test(
  'deleting a tenant needs its name, an admin, a session and a recent authentication',
  async (t) => {
    const test = await build(t)
    const { user, send, make } = await owner(test, { role: 'admin' })
    const { use } = await make()
    const name = nameOf(user.tenantId)
    const editor = await owner(test, { role: 'editor', tenantId: user.tenantId })
    for (const wrong of [name.toLowerCase(), `${name} `, 'x']) {
      const refused = await send('POST', path, { name: wrong })
      t.equal(refused.statusCode, 409)
      t.match(refused.json().type, 'confirmation-mismatch')
    }
    t.equal((await send('POST', path, {})).statusCode, 400)
    t.equal((await editor.send('POST', path, { name })).statusCode, 403)
    t.equal((await use('POST', path, { name })).statusCode, 403, 'a token')
    await authenticatedAgo(test, 301)
    t.match((await send('POST', path, { name })).json().type, 'reauthentication-required')
    t.equal(await countTenants(test, user.tenantId), 1)
  },
)

async function countTenants({ database }: TestApp, tenantId: string): Promise<number> {
  const { rows } = await database.admin.query(
    'SELECT FROM memberships WHERE tenant_id = $1 GROUP BY tenant_id',
    [tenantId],
  )
  return rows.length
}

/** The name that createUser gives a tenant. */
function nameOf(tenantId: string): string {
  return `Tenant ${tenantId.slice(0, 8)}`
}

function cookieOf(header: string | string[] | undefined): string {
  return [header].flat().join(';').split(';')[0] ?? ''
}
