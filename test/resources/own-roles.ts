import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { requireRoles } from '#src/auth/oidc/mapped-role.ts'
import { members } from '#src/commands/development/sample/people.ts'
import { build } from '#test/support/app/app.ts'

/* An app whose roles have names and permissions of their own: test/support/office-app. */

t.test('who creates a tenant manages it, and the last one who does cannot leave', async (t) => {
  const test = await build(t)
  const founder = await createUser(test.database, { role: 'manager' })
  const send = as(test, await signIn(test, founder))
  const created = await send('POST', '/tenants', { name: 'Second' })
  t.equal(created.statusCode, 201)
  t.equal(created.json().role, 'manager')
  const { rows } = await test.database.admin.query(
    'SELECT role FROM memberships WHERE tenant_id = $1',
    [created.json().id],
  )
  t.strictSame(rows, [{ role: 'manager' }])
  const { tenantId } = founder
  await createUser(test.database, { role: 'clerk', tenantId })
  const left = await send('DELETE', `/tenants/${tenantId}/membership`)
  t.equal(left.statusCode, 409)
  const self = `/users/${founder.userId}`
  t.equal((await send('PATCH', self, { role: 'guest' })).statusCode, 409, 'nor become less')
})

t.test('roles are given and have the permissions of the app', async (t) => {
  const test = await build(t)
  const manager = await createUser(test.database, { role: 'manager' })
  const { tenantId } = manager
  const send = as(test, await signIn(test, manager))
  const clerk = await createUser(test.database, { role: 'clerk', tenantId })
  const asClerk = as(test, await signIn(test, clerk))
  const permissionsIn = async (one: typeof send) => (await one('GET', '/me')).json().permissions
  t.strictSame(await permissionsIn(send), ['desk:use', 'key:read', 'key:give', 'user:manage'])
  t.strictSame(await permissionsIn(asClerk), ['desk:use', 'key:read', 'vault:open'])
  t.equal((await asClerk('GET', '/users')).statusCode, 403)

  const path = `/users/${clerk.userId}`
  const changed = await send('PATCH', path, { role: 'guest' })
  t.match(changed.json(), { role: 'guest' })
  t.strictSame(await permissionsIn(asClerk), [])
  for (const role of ['admin', 'viewer', 'Manager']) {
    t.equal((await send('PATCH', path, { role })).statusCode, 400, role)
  }
  const invitation = { email: 'ada@acme.example', role: 'clerk' }
  t.equal((await send('POST', '/users', invitation)).statusCode, 201)
  t.equal((await send('POST', '/users', { ...invitation, role: 'editor' })).statusCode, 400)
})

t.test('the managing role gives others a role with more, in a session alone', async (t) => {
  const test = await build(t)
  const manager = await createUser(test.database, { role: 'manager' })
  const { tenantId } = manager
  await createUser(test.database, { role: 'manager', tenantId })
  const guest = await createUser(test.database, { role: 'guest', tenantId })
  const send = as(test, await signIn(test, manager))
  const robot = async (permissions: string[] | null) => {
    const made = await send('POST', '/auth/tokens', { name: 'Robot', permissions })
    t.equal(made.statusCode, 201)
    return as(test, { authorization: `Bearer ${made.json().token}` })
  }
  const robots = [await robot(null), await robot(['user:manage', 'desk:use', 'key:read'])]
  const [path, self] = [`/users/${guest.userId}`, `/users/${manager.userId}`]
  const roleOf = async ({ userId }: { userId: number }) => {
    const role = 'SELECT role FROM memberships WHERE user_id = $1 AND tenant_id = $2'
    return (await test.database.admin.query(role, [userId, tenantId])).rows[0]?.role
  }

  const lacking = { role: 'clerk' }
  const invitation = { email: 'bob@acme.example', ...lacking }
  for (const asRobot of robots) {
    for (const refused of [
      await asRobot('PATCH', path, lacking),
      await asRobot('POST', '/users', invitation),
    ]) {
      t.equal(refused.statusCode, 403)
      t.match(refused.json(), { detail: /^A token cannot give a role with/ })
    }
    t.equal((await asRobot('PATCH', self, lacking)).statusCode, 403)
    t.equal((await asRobot('PATCH', path, { role: 'guest' })).statusCode, 200)
  }
  const ownRole = await send('PATCH', self, lacking)
  t.equal(ownRole.statusCode, 403)
  t.match(ownRole.json(), { detail: /^You cannot give yourself a role with/ })
  t.equal(await roleOf(manager), 'manager')
  t.equal(await roleOf(guest), 'guest')
  const { rows } = await test.database.admin.query('SELECT email FROM invitations')
  t.strictSame(rows, [])

  t.match((await send('PATCH', path, lacking)).json(), lacking)
  t.equal(await roleOf(guest), 'clerk')
  t.equal((await send('POST', '/users', invitation)).statusCode, 201)
  const page = (await send('GET', '/app/tenant', undefined, { accept: 'text/html' })).body
  const offeredTo = (who: { userId: number }) => {
    const form = page.split('<form').find((one) => one.includes(`name="id" value="${who.userId}"`))
    return [...(form ?? '').matchAll(/<option[^>]*>(\w+)</g)].map(([, label]) => label)
  }
  t.strictSame(offeredTo(manager), ['guest', 'manager'], 'what would be refused is not offered')
  t.strictSame(offeredTo(guest), ['guest', 'clerk', 'manager'])
})

t.test('a token is limited to permissions of the app', async (t) => {
  const test = await build(t)
  const clerk = await createUser(test.database, { role: 'clerk' })
  const send = as(test, await signIn(test, clerk))
  const token = (permissions: string[]) => ({ name: 'Robot', permissions })
  const made = await send('POST', '/auth/tokens', token(['desk:use']))
  t.equal(made.statusCode, 201)
  const asRobot = as(test, { authorization: `Bearer ${made.json().token}` })
  t.strictSame((await asRobot('GET', '/me')).json().permissions, ['desk:use'])
  t.equal(
    (await send('POST', '/auth/tokens', token(['key:give']))).statusCode,
    403,
    'not of the role',
  )
  t.equal(
    (await send('POST', '/auth/tokens', token(['post:read']))).statusCode,
    400,
    'of another app',
  )
})

t.test('the form of an invitation offers the roles, and the least one first', async (t) => {
  const test = await build(t)
  const send = as(test, await signIn(test, await createUser(test.database, { role: 'manager' })))
  const path = '/app/tenant/invitations/new'
  const page = (await send('GET', path, undefined, { accept: 'text/html' })).body
  const options = [...page.matchAll(/<option([^>]*)>(\w+)</g)].map(
    ([, marks = '', label = '']) => marks + label,
  )
  for (const role of [' selectedguest', 'clerk', 'manager']) t.ok(options.includes(role), role)
  for (const role of ['admin', 'editor', 'viewer']) t.notOk(options.includes(role), role)
})

t.test('the people of the demo have roles of the app', (t) => {
  t.strictSame(
    members.map(({ role }) => role),
    ['manager', 'clerk', 'guest', 'manager', 'clerk'],
  )
  t.end()
})

t.test('the database takes no other role', async (t) => {
  const { database } = await build(t)
  await t.rejects(createUser(database, { role: 'admin' }), { code: '23514' })
})

t.test('a provider gives roles of the app only', (t) => {
  const map = (role: string) => ({
    tenantId: '0b8b1f0e-5b1a-4c55-9d3f-8f6c2f1f5a10',
    rules: [{ claim: 'groups', value: 'staff', role }],
  })
  requireRoles('work', null)
  requireRoles('work', map('clerk'))
  t.throws(() => requireRoles('work', map('admin')), {
    message: /OIDC_WORK_ROLE_MAP: admin is no role of the app, which has guest, clerk, manager\./,
  })
  t.end()
})
