import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { startProvider, stripe, usual } from './stripe-provider.ts'

t.test('a checkout creates a customer marked with its user, whom it does not link', async (t) => {
  const provider = await startProvider(t, usual)
  const test = await build(t, stripe(provider.url))
  const user = await createUser(test.database)
  const send = as(test, await signIn(test, user))
  const first = await send('POST', '/billing/checkout', {
    price: 'price_pro',
    returnTo: '/welcome',
  })
  t.match(first, { statusCode: 200 })
  t.strictSame(first.json(), { url: 'https://checkout.example/c' })
  const link = `SELECT billing_customer FROM users WHERE id = ${user.userId}`
  const { rows } = await test.database.admin.query(link)
  t.strictSame(rows, [{ billing_customer: null }], 'the worker links it, as the provider says')
  const marks = {
    'metadata[gatehouse_user]': String(user.userId),
    'metadata[gatehouse_origin]': 'http://localhost:3000',
  }
  const changes = provider.calls.filter(({ method }) => method === 'POST')
  t.match(changes, [
    { path: '/v1/customers', form: marks, headers: { 'idempotency-key': String } },
    {
      path: '/v1/checkout/sessions',
      form: {
        ...marks,
        customer: 'cus_new',
        mode: 'subscription',
        'line_items[0][price]': 'price_pro',
        'subscription_data[metadata][gatehouse_user]': String(user.userId),
        success_url: 'http://localhost:3000/welcome',
      },
      headers: { authorization: 'Bearer sk_test_key', 'stripe-version': String },
    },
  ])
  t.match(await send('POST', '/billing/portal'), { statusCode: 409, body: /no customer for you/ })
  await test.database.admin.query('UPDATE users SET billing_customer = $1 WHERE id = $2', [
    'cus_new',
    user.userId,
  ])
  await send('POST', '/billing/checkout', { price: 'price_team' })
  t.equal(provider.calls.filter(({ path }) => path === '/v1/customers').length, 1)
  t.match(await send('POST', '/billing/portal'), { statusCode: 200, body: /billing\.example/ })
  t.match(provider.calls.at(-1), { form: { customer: 'cus_new' } })
})

t.test('a customer of the provider before is none of this one', async (t) => {
  const provider = await startProvider(t, usual)
  const test = await build(t, stripe(provider.url))
  const user = await createUser(test.database, { billingCustomer: 'ctm_1' })
  const { cookie } = await signIn(test, user)
  const send = as(test, { cookie })
  t.match(await send('POST', '/billing/portal'), { statusCode: 409, body: /no customer for you/ })
  const page = await send('GET', '/app/account', undefined, { accept: 'text/html' })
  t.notMatch(page.body, 'Cards and invoices')
  t.strictSame(
    provider.calls.filter(({ path }) => !path.startsWith('/v1/prices/')),
    [],
  )
  t.match(await send('POST', '/billing/checkout', { price: 'price_pro' }), { statusCode: 200 })
  t.match(provider.calls.at(-1), { form: { customer: 'cus_new' } })
})

t.test('the provider learns an email address only if its holder has verified it', async (t) => {
  const provider = await startProvider(t, usual)
  const test = await build(t, stripe(provider.url))
  for (const [emailVerified, email] of [
    [true, 'ada@acme.example'],
    [false, undefined],
  ] as const) {
    const user = await createUser(test.database, { email: 'ada@acme.example', emailVerified })
    const send = as(test, await signIn(test, user))
    t.match(await send('POST', '/billing/checkout', { price: 'price_pro' }), { statusCode: 200 })
    const created = provider.calls.findLast(({ path }) => path === '/v1/customers')
    t.equal(created?.form.email, email)
    await test.database.admin.query('DELETE FROM users WHERE id = $1', [user.userId])
  }
})

t.test('a checkout returns to a URL of an origin in APP_ORIGINS', async (t) => {
  const provider = await startProvider(t, usual)
  const test = await build(t, { ...stripe(provider.url), APP_ORIGINS: 'http://localhost:5173' })
  const send = as(test, await signIn(test, await createUser(test.database)))
  const order = { price: 'price_pro', returnTo: 'http://localhost:5173/paid?plan=pro' }
  t.match(await send('POST', '/billing/checkout', order), { statusCode: 200 })
  t.match(provider.calls.at(-1), { form: { success_url: order.returnTo } })
  for (const returnTo of ['http://localhost:5174/paid', 'http://a@localhost:5173/paid']) {
    const refused = await send('POST', '/billing/checkout', { ...order, returnTo })
    t.match(refused, { statusCode: 400 }, returnTo)
  }
})

t.test('what cannot be bought is refused before the provider is asked', async (t) => {
  const provider = await startProvider(t, usual)
  const test = await build(t, stripe(provider.url))
  const user = await createUser(test.database)
  const send = as(test, await signIn(test, user))
  t.match(await send('POST', '/billing/portal'), { statusCode: 409, body: /no customer for you/ })
  const elsewhere = { price: 'price_pro', returnTo: 'https://evil.example/' }
  t.match(await send('POST', '/billing/checkout', elsewhere), { statusCode: 400 })
  t.match(await send('POST', '/billing/checkout', { price: 'price_x' }), {
    statusCode: 400,
    body: /no plan with this price/,
  })
  await test.database.admin.query(`UPDATE users SET plan = 'pro' WHERE id = $1`, [user.userId])
  for (const price of ['price_pro', 'price_team']) {
    t.match(await send('POST', '/billing/checkout', { price }), {
      statusCode: 409,
      body: /have a plan already. Change or cancel it at the billing portal/,
    })
  }
  await test.database.admin.query(
    'UPDATE users SET plan = NULL, own_tenant_id = NULL WHERE id = $1',
    [user.userId],
  )
  t.match(await send('POST', '/billing/checkout', { price: 'price_pro' }), {
    statusCode: 409,
    body: /deleted your own tenant/,
  })
  t.strictSame(provider.calls, [])
  await test.database.admin.query('UPDATE users SET own_tenant_id = $2 WHERE id = $1', [
    user.userId,
    user.tenantId,
  ])
  t.match(await send('POST', '/billing/checkout', { price: 'price_team' }), { statusCode: 200 })
})

t.test('a customer that another user has is not taken', async (t) => {
  const provider = await startProvider(t, usual)
  const test = await build(t, stripe(provider.url))
  const holder = await createUser(test.database, { billingCustomer: 'cus_new' })
  const user = await createUser(test.database)
  const send = as(test, await signIn(test, user))
  t.match(await send('POST', '/billing/checkout', { price: 'price_pro' }), { statusCode: 409 })
  const { rows } = await test.database.admin.query(
    'SELECT id::int FROM users WHERE billing_customer IS NOT NULL',
  )
  t.strictSame(rows, [{ id: holder.userId }])
})

t.test('two first checkouts at once ask Stripe for one customer', async (t) => {
  const provider = await startProvider(t, usual)
  const test = await build(t, stripe(provider.url))
  const send = as(test, await signIn(test, await createUser(test.database)))
  const buy = () => send('POST', '/billing/checkout', { price: 'price_pro' })
  const answers = await Promise.all([buy(), buy()])
  t.match(answers, [{ statusCode: 200 }, { statusCode: 200 }])
  const keys = provider.calls
    .filter(({ path }) => path === '/v1/customers')
    .map(({ headers }) => headers['idempotency-key'])
  t.equal(keys.length, 2)
  t.equal(new Set(keys).size, 1, 'Stripe answers both with the same')
})

t.test(
  'a provider that fails or lies is a 503, an unknown price 400, a deleted customer 409',
  async (t) => {
    let next: [number, object] = [500, {}]
    const provider = await startProvider(t, ({ path }) =>
      path.startsWith('/v1/checkout/sessions?') ? [200, { data: [] }] : next,
    )
    const test = await build(t, stripe(provider.url))
    const user = await createUser(test.database, { billingCustomer: 'cus_1' })
    const send = as(test, await signIn(test, user))
    const buy = () => send('POST', '/billing/checkout', { price: 'price_pro' })
    const failed = await buy()
    t.match(failed, { statusCode: 503, headers: { 'retry-after': '5' } })
    t.notMatch(failed.body, 'Stripe', 'a 5xx does not say why')
    next = [200, { url: 7 }]
    t.match(await buy(), { statusCode: 503 })
    const missing = (param: string): [number, object] => [
      400,
      { error: { code: 'resource_missing', param, type: 'invalid_request_error' } },
    ]
    next = missing('line_items[0][price]')
    t.match(await buy(), { statusCode: 400, body: /does not have this price/ })
    next = missing('customer')
    const gone = { statusCode: 409, body: /has deleted your customer/ }
    t.match(await buy(), gone)
    t.match(await send('POST', '/billing/portal'), gone)
  },
)

t.test('an installation without a checkout says so', async (t) => {
  const test = await build(t)
  const send = as(test, await signIn(test, await createUser(test.database)))
  t.match(await send('POST', '/billing/checkout', { price: 'price_pro' }), { statusCode: 404 })
  t.match(await send('POST', '/billing/portal'), { statusCode: 404 })
})

t.test('a customer that was deleted before it was linked is replaced at once', async (t) => {
  const made: string[] = []
  const answers = new Map<unknown, string>()
  const gone = new Set<string>()
  const provider = await startProvider(t, (call) => {
    const key = call.headers['idempotency-key']
    if (call.path === '/v1/customers') {
      const known = answers.get(key) ?? `cus_${made.push('') + 100}`
      answers.set(key, known)
      return [200, { id: known }]
    }
    if (call.method === 'POST' && gone.has(call.form.customer ?? '')) {
      return [400, { error: { code: 'resource_missing', param: 'customer' } }]
    }
    return usual(call)
  })
  const test = await build(t, stripe(provider.url))
  const send = as(test, await signIn(test, await createUser(test.database)))
  const buy = () => send('POST', '/billing/checkout', { price: 'price_pro' })
  const used = () => provider.calls.findLast(({ path }) => path === '/v1/checkout/sessions')?.form
  t.match(await buy(), { statusCode: 200 })
  for (const customer of ['cus_101', 'cus_102']) {
    t.match(used(), { customer })
    gone.add(customer) // within the day for which Stripe repeats its answer
    t.match(await buy(), { statusCode: 200 }, `${customer} is gone`)
  }
  t.match(used(), { customer: 'cus_103' })
  t.equal(made.length, 3)
  for (let next = 103; next < 110; next += 1) gone.add(`cus_${next}`)
  t.match(await buy(), { statusCode: 409, body: /has deleted your customer/ }, 'it gives up')
})

t.test('a checkout while an older one is being paid is a 409', async (t) => {
  const metadata = { gatehouse_user: '1', gatehouse_origin: 'http://localhost:3000' }
  const provider = await startProvider(t, (call) => {
    if (call.path.startsWith('/v1/checkout/sessions?')) {
      return [200, { data: [{ id: 'cs_0', status: 'open', metadata }] }]
    }
    if (call.path === '/v1/checkout/sessions/cs_0/expire') return [400, {}]
    return usual(call)
  })
  const test = await build(t, stripe(provider.url))
  const send = as(test, await signIn(test, await createUser(test.database)))
  const answer = await send('POST', '/billing/checkout', { price: 'price_pro' })
  t.match(answer, { statusCode: 409, body: /just paid at another checkout/ })
  t.match(provider.calls.at(-1), { path: '/v1/checkout/sessions/cs_0/expire' }, 'none is started')
})
