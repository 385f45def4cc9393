import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { notRecordedYet } from '#src/auth/operators/operators.ts'
import { addOperator, build, type TestApp } from '#test/support/app/app.ts'
import { badPageQueries, pagesOf, smuggling } from '#test/support/app/probes.ts'
import { signedInBy } from '#test/support/callers/account.ts'
import { owner } from '#test/support/callers/token-owner.ts'

async function setUp(t: Test) {
  const operators = new Set<string>()
  const test = await build(t, {}, { operators })
  const operator = await owner(test)
  await signedInBy(test, operator.user.userId, 'an-operator')
  operators.add('demo:an-operator')
  await addOperator(test.database, 'demo:an-operator')
  const link = (customer: string, userId: unknown) =>
    test.app.inject({
      method: 'PUT',
      url: `/billing/customers/${encodeURIComponent(customer)}`,
      headers: { cookie: operator.cookie },
      payload: { userId },
    })
  return { test, operator, link }
}

async function customersOf({ database }: TestApp): Promise<Record<string, string>> {
  const { rows } = await database.admin.query<{ id: string; customer: string }>(
    'SELECT id, billing_customer AS customer FROM users WHERE billing_customer IS NOT NULL',
  )
  return Object.fromEntries(rows.map(({ id, customer }) => [id, customer]))
}

t.test('nobody claims a billing customer for themselves or a member', async (t) => {
  const { test } = await setUp(t)
  const { user, send, cookie, make } = await owner(test, { role: 'admin' })
  const body = { billingCustomer: 'cus_free' }
  t.equal((await send('PATCH', `/users/${user.userId}`, body)).statusCode, 400)
  const { token } = await make()
  for (const headers of [{ cookie }, { authorization: `Bearer ${token}` }]) {
    for (const [method, url] of [
      ['PUT', '/billing/customers/cus_free'],
      ['GET', '/billing/customers'],
    ] as const) {
      const payload = method === 'PUT' ? { payload: { userId: user.userId } } : {}
      const answer = await test.app.inject({ method, url, headers, ...payload })
      t.equal(answer.statusCode, 403, `${method} for ${Object.keys(headers)}`)
    }
  }
  t.strictSame(await customersOf(test), {})
})

t.test('an operator links a customer, moves it and unlinks it', async (t) => {
  const { test, operator, link } = await setUp(t)
  const first = await createUser(test.database, { email: 'ada@example.com' })
  const second = await createUser(test.database)
  const linked = await link('cus_1', first.userId)
  t.equal(linked.statusCode, 200)
  t.strictSame(linked.json(), {
    ...{ customer: 'cus_1', userId: first.userId, tenantId: null },
  })
  t.equal((await link('cus_1', first.userId)).statusCode, 200, 'again')
  t.strictSame((await operator.send('GET', '/billing/customers')).json(), {
    data: [
      {
        ...{ customer: 'cus_1', userId: first.userId, email: 'ada@example.com' },
        ...{ tenantId: null, tenantName: null },
      },
    ],
    nextCursor: null,
  })
  t.equal((await link('cus_1', second.userId)).statusCode, 200)
  t.strictSame(await customersOf(test), { [second.userId]: 'cus_1' })
  t.strictSame((await link('cus_1', null)).json(), {
    ...{ customer: 'cus_1', userId: null, tenantId: null },
  })
  t.strictSame(await customersOf(test), {})
  const { rows } = await test.database.admin.query(
    `SELECT reason, target, user_id::int AS by, tenant_id FROM audit_log ORDER BY id`,
  )
  const by = operator.user.userId
  const entry = (reason: string, userId: number) => {
    return { reason, target: `cus_1 user ${userId}`, by, tenant_id: null }
  }
  t.strictSame(rows, [
    entry('linked', first.userId),
    entry('linked', first.userId),
    entry('unlinked', first.userId),
    entry('linked', second.userId),
    entry('unlinked', second.userId),
  ])
})

t.test('a user has one customer; a missing user is a 404', async (t) => {
  const { test, operator, link } = await setUp(t)
  const { userId } = await createUser(test.database, { billingCustomer: 'cus_1' })
  const refused = await link('cus_2', userId)
  t.equal(refused.statusCode, 409)
  t.match(refused.json(), { detail: /another billing customer/ })
  t.equal((await link('cus_2', Number.MAX_SAFE_INTEGER)).statusCode, 404)
  for (const bad of [0, -1, 1.5, 2 ** 53, String(userId), [userId], undefined]) {
    t.equal((await link('cus_2', bad)).statusCode, 400, JSON.stringify(bad))
  }
  t.strictSame(await customersOf(test), { [userId]: 'cus_1' })
  for (const bad of ['\n', ' ', 'x'.repeat(256)]) {
    t.equal((await link(bad, userId)).statusCode, 400, JSON.stringify(bad))
  }
  for (const [name, payload] of smuggling({ userId })) {
    const answer = await test.app.inject({
      method: 'PUT',
      url: '/billing/customers/cus_1',
      headers: { cookie: operator.cookie, 'content-type': 'application/json' },
      payload,
    })
    t.equal(answer.statusCode, 400, name)
  }
})

t.test('of several links of one customer at once the last one counts', async (t) => {
  const { test, link } = await setUp(t)
  const users = await Promise.all(Array.from({ length: 4 }, () => createUser(test.database)))
  const answers = await Promise.all(users.map(({ userId }) => link('cus_1', userId)))
  t.strictSame(
    answers.map(({ statusCode }) => statusCode),
    [200, 200, 200, 200],
  )
  t.strictSame(Object.values(await customersOf(test)), ['cus_1'])
})

t.test('the list is in the order of the customers, page by page', async (t) => {
  const { test, operator } = await setUp(t)
  for (const n of Array.from({ length: 5 }).keys()) {
    await createUser(test.database, { billingCustomer: `cus_${n}` })
  }
  const pages = await pagesOf(operator.send, '/billing/customers', async () => {})
  t.strictSame(
    pages.flatMap(({ data }) => data.map((one: object) => Object(one).customer)),
    ['cus_0', 'cus_1', 'cus_2', 'cus_3', 'cus_4'],
  )
  for (const query of badPageQueries) {
    const answer = await operator.send('GET', `/billing/customers?${query}`)
    t.equal(answer.statusCode, 400, query)
  }
})

t.test('an operator whom no worker has recorded yet reads what to do', async (t) => {
  const { test, operator, link } = await setUp(t)
  await test.database.admin.query('DELETE FROM operators')
  const { userId } = await createUser(test.database)
  for (const answer of [
    await link('cus_1', userId),
    await operator.send('GET', '/billing/customers'),
  ]) {
    t.equal(answer.statusCode, 403, answer.body)
    t.equal(answer.json().detail, notRecordedYet)
  }
  t.strictSame(await customersOf(test), {})
})
