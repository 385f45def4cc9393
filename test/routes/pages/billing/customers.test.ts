import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { addOperator, build } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'

const html = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }
const path = '/app/billing/customers'

async function setUp(t: Test) {
  const operators = new Set<string>()
  const test = await build(t, {}, { operators })
  const operator = await createUser(test.database)
  await addIdentity(test, operator.userId, 'an-operator')
  operators.add('demo:an-operator')
  await addOperator(test.database, 'demo:an-operator')
  const { cookie } = await signIn(test, operator)
  const open = (url = path) => test.app.inject({ url, headers: { ...html, cookie } })
  const send = (url: string, payload: string) =>
    test.app.inject({ method: 'POST', url, headers: { ...html, cookie }, payload })
  return { test, open, send }
}

t.test('an operator links a customer to a user by id or verified address', async (t) => {
  const { test, open, send } = await setUp(t)
  t.match((await open('/app/billing')).body, `href="${path}"`)
  t.match((await open()).body, 'No customers are linked.')
  const { userId } = await createUser(test.database)
  await createUser(test.database, { email: 'ada@x.example', emailVerified: true })
  await createUser(test.database, { email: 'eve@x.example' })
  for (const [customer, user] of [
    ['%3Ccus_1%3E', userId],
    ['cus_2', 'Ada%40x.example'],
  ]) {
    const linked = await send(`${path}/new`, `customer=${customer}&user=${user}`)
    t.equal(linked.headers.location, `${path}?done=linked`)
  }
  const { body } = await open(`${path}?done=linked`)
  t.match(body, '&lt;cus_1&gt;')
  t.match(body, 'ada@x.example')
  const unverified = await send(`${path}/new`, 'customer=cus_3&user=eve%40x.example')
  t.equal(unverified.statusCode, 400)
  t.match(unverified.body, /There is no such user\. .*OIDC_&lt;NAME&gt;_TRUST_EMAIL/)
  const another = await send(`${path}/new`, 'customer=cus_3&user=ada%40x.example')
  t.equal(another.statusCode, 409)
  t.match(another.body, 'another billing customer')
})

t.test('unlinking a customer asks for confirmation', async (t) => {
  const { test, open, send } = await setUp(t)
  await createUser(test.database, { billingCustomer: 'cus_1' })
  t.match((await open()).body, 'name="confirm" value="yes" required')
  const unlink = `${path}/unlink`
  t.equal((await send(unlink, 'customer=cus_1')).statusCode, 400)
  const done = await send(unlink, 'customer=cus_1&confirm=yes')
  t.equal(done.headers.location, `${path}?done=unlinked`)
  t.match((await open()).body, 'No customers are linked.')
})

t.test('nobody else sees the pages', async (t) => {
  const { test } = await setUp(t)
  const admin = await createUser(test.database, { role: 'admin' })
  const { cookie } = await signIn(test, admin)
  for (const url of [path, `${path}/new`]) {
    const answer = await test.app.inject({ url, headers: { ...html, cookie } })
    t.equal(answer.statusCode, 403, url)
    t.match(answer.body, 'Only operators may do this.')
  }
})
