import t from 'tap'
import { build, createUser } from '#test/support/helper.ts'
import { edgeIds, smuggling } from '#test/support/probes.ts'
import { owner } from '#test/support/token-owner.ts'

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
    ['an empty customer', '{"billingCustomer":""}'],
    ['a NUL', '{"billingCustomer":"a\\u0000"}'],
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

t.test('the billing customer is changed in the user’s own tenant, and is unique', async (t) => {
  const test = await build(t)
  const { user, send } = await owner(test, { role: 'admin' })
  const own = `/users/${user.userId}`
  const set = await send('PATCH', own, { billingCustomer: 'cus_1' })
  t.equal(set.statusCode, 200)
  t.equal(set.json().billingCustomer, 'cus_1')
  t.equal((await send('PATCH', own, { billingCustomer: 'cus_1' })).statusCode, 200, 'again')

  const other = await owner(test, { role: 'admin' })
  const taken = { billingCustomer: 'cus_1', role: 'admin', department: 'sales' }
  const refused = await other.send('PATCH', `/users/${other.user.userId}`, taken)
  t.equal(refused.statusCode, 409)
  t.match(refused.json(), { type: 'urn:gatehouse:problem:conflict', detail: /Another user/ })
  t.match((await other.send('GET', '/me')).json(), { department: null }, 'nothing is changed')

  await test.database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [user.tenantId, other.user.userId],
  )
  for (const billingCustomer of ['cus_2', 'cus_1', null]) {
    const change = { billingCustomer, department: 'sales' }
    const answer = await send('PATCH', `/users/${other.user.userId}`, change)
    t.equal(answer.statusCode, 403, 'not that of a guest')
    t.match(answer.json(), { detail: /own tenant/ })
  }
  t.equal((await send('PATCH', own, { billingCustomer: null })).json().billingCustomer, null)
  const { rows } = await test.database.admin.query(
    `SELECT reason, count(*)::int AS n FROM audit_log WHERE outcome = 'refused' GROUP BY 1 ORDER BY 1`,
  )
  t.strictSame(rows, [
    { reason: 'billing-elsewhere', n: 3 },
    { reason: 'customer-taken', n: 1 },
  ])
})

t.test('when two users get one billing customer at once, one succeeds', async (t) => {
  const test = await build(t)
  for (const n of Array.from({ length: 8 }).keys()) {
    const both = [await owner(test, { role: 'admin' }), await owner(test, { role: 'admin' })]
    const answers = await Promise.all(
      both.map(({ send, user }) =>
        send('PATCH', `/users/${user.userId}`, { billingCustomer: `cus_race_${n}` }),
      ),
    )
    t.strictSame(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 409])
  }
})
