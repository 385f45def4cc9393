import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { edgeIds, smuggling } from '#test/support/app/probes.ts'
import { owner } from '#test/support/callers/token-owner.ts'

const email = 'ada@example.com'

t.test('a body with unlisted fields is 400 and changes nothing', async (t) => {
  const test = await build(t)
  const { user, sendText } = await owner(test, { role: 'admin' })
  const member = await createUser(test.database, { tenantId: user.tenantId })
  const invite = (body: string) => sendText('POST', '/users', body)
  const change = (body: string) => sendText('PATCH', `/users/${member.userId}`, body)
  for (const [name, body] of smuggling({ email, role: 'viewer' })) {
    t.equal((await invite(body)).statusCode, 400, `POST with ${name}`)
  }
  for (const [name, body] of smuggling({ role: 'admin' })) {
    t.equal((await change(body)).statusCode, 400, `PATCH with ${name}`)
  }
  const invitations: [string, string][] = [
    ['no body', ''],
    ['an array', '[]'],
    ['no role', JSON.stringify({ email })],
    ['no e-mail', '{"role":"viewer"}'],
    ['a billing customer', JSON.stringify({ email, role: 'viewer', billingCustomer: 'cus_x' })],
    ['another role', JSON.stringify({ email, role: 'owner' })],
    ['a role in capitals', JSON.stringify({ email, role: 'Admin' })],
    ['several roles', JSON.stringify({ email, role: ['viewer'] })],
    ['a department that is null', JSON.stringify({ email, role: 'viewer', department: null })],
    ...['', 'ada', '@example.com', 'a b@example.com', `${email}\n`, `Ada <${email}>`, null].map(
      (bad): [string, string] => [`${bad}`, JSON.stringify({ email: bad, role: 'viewer' })],
    ),
    ['a long one', JSON.stringify({ email: `${'a'.repeat(310)}@example.com`, role: 'viewer' })],
  ]
  for (const [name, body] of invitations) t.equal((await invite(body)).statusCode, 400, name)
  const changes: [string, string][] = [
    ['no body', ''],
    ['empty', '{}'],
    ['an e-mail', JSON.stringify({ email })],
    ['another role', '{"role":"root"}'],
    ['no role', '{"role":null}'],
    ['a blank department', '{"department":" "}'],
    ['a long department', JSON.stringify({ department: 'x'.repeat(101) })],
    ['a billing customer', '{"billingCustomer":"cus_x"}'],
    ['no billing customer', '{"role":"viewer","billingCustomer":null}'],
    ['a NUL', '{"department":"a\\u0000"}'],
  ]
  for (const [name, body] of changes) t.equal((await change(body)).statusCode, 400, name)
  const { rows } = await test.database.admin.query(
    `SELECT role, department, (SELECT count(*)::int FROM invitations) AS invited
     FROM memberships WHERE user_id = $1`,
    [member.userId],
  )
  t.strictSame(rows, [{ role: 'viewer', department: null, invited: 0 }])
})

t.test('ids at the limits', async (t) => {
  const test = await build(t)
  const { send } = await owner(test, { role: 'admin' })
  for (const [id, status] of edgeIds) {
    const changed = await send('PATCH', `/users/${id}`, { role: 'viewer' })
    t.equal(changed.statusCode, status, `PATCH ${id}`)
    t.equal((await send('DELETE', `/users/${id}`)).statusCode, status, `DELETE ${id}`)
  }
  for (const id of ['1', 'x', '%00', `${crypto.randomUUID()}0`]) {
    t.equal((await send('DELETE', `/invitations/${id}`)).statusCode, 400, id)
  }
})
