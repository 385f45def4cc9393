import t from 'tap'
import { createPaddleApi } from '#src/billing/providers/paddle-api.ts'
import { createStripeApi } from '#src/billing/providers/stripe-api.ts'

const baseUrl = 'https://app.example.com'
type Reply = [status: number, body: object]

/** A fetch that answers by path and query, and records what it was asked. */
function answering(replies: Record<string, Reply>) {
  const asked: string[] = []
  const fetch: typeof globalThis.fetch = async (input) => {
    const { pathname, search } = new URL(String(input))
    const path = decodeURIComponent(pathname + search)
    asked.push(path)
    const [status, body] = replies[path] ?? [404, {}]
    return new Response(JSON.stringify(body), { status })
  }
  return { fetch, asked }
}

t.test('Stripe’s list is read newest first, page by page', async (t) => {
  const range = 'limit=100&created[gte]=10&created[lt]=20'
  const { fetch, asked } = answering({
    [`/v1/events?${range}`]: [200, { data: [{ id: 'e3' }, { id: 'e2' }], has_more: true }],
    [`/v1/events?${range}&starting_after=e2`]: [200, { data: [{ id: 'e1' }], has_more: false }],
  })
  const api = createStripeApi({ url: 'https://api.stripe.com/v1', key: 'k', baseUrl, fetch })
  const first = await api.listEvents({ from: 10, to: 20, after: null })
  t.strictSame(first, { items: [{ id: 'e3' }, { id: 'e2' }], next: 'e2' })
  const second = await api.listEvents({ from: 10, to: 20, after: 'e2' })
  t.strictSame(second, { items: [{ id: 'e1' }], next: null })
  t.equal(asked.length, 2)
  await t.rejects(api.listEvents({ from: 1, to: 2, after: null }), /answered 404/)
})

t.test('Paddle’s list is cut to the range, and ends with the first event before it', async (t) => {
  const event = (id: string, second: number) => ({
    event_id: id,
    occurred_at: new Date(second * 1_000).toISOString(),
  })
  const query = '/events?order_by=id[DESC]&per_page=200'
  const more = { pagination: { has_more: true } }
  const { fetch } = answering({
    [query]: [200, { data: [event('e4', 25), event('e3', 15)], meta: more }],
    [`${query}&after=e3`]: [200, { data: [event('e2', 10), event('e1', 5)], meta: more }],
  })
  const api = createPaddleApi({ url: 'https://api.paddle.com', key: 'k', baseUrl, fetch })
  const first = await api.listEvents({ from: 10, to: 20, after: null })
  t.strictSame(first, { items: [event('e3', 15)], next: 'e3' })
  const second = await api.listEvents({ from: 10, to: 20, after: 'e3' })
  t.strictSame(second, { items: [event('e2', 10)], next: null })
})

t.test('a list that goes on without an event to go on from is an error, not its end', async (t) => {
  for (const last of [[], [{}], [{ id: 'e\u0000', event_id: 'e\u0000' }]]) {
    const fetch: typeof globalThis.fetch = async () =>
      Response.json({ data: last, has_more: true, meta: { pagination: { has_more: true } } })
    const options = { url: 'https://api.example.com', key: 'k', baseUrl, fetch }
    for (const api of [createStripeApi(options), createPaddleApi(options)]) {
      await t.rejects(api.listEvents({ from: 1, to: 2, after: null }), /something else/)
    }
  }
})

t.test('objects are fetched by their own id and nothing else', async (t) => {
  const { fetch, asked } = answering({
    '/v1/subscriptions/sub_1': [200, { id: 'sub_1', status: 'active' }],
    '/v1/subscriptions/sub_2': [200, { id: 'sub_1' }],
    '/v1/invoices/in_1?expand[]=payments': [200, { id: 'in_1' }],
    '/v1/checkout/sessions/cs_1': [200, { id: 'cs_1' }],
    '/v1/subscriptions/sub_500': [500, {}],
  })
  const api = createStripeApi({ url: 'https://api.stripe.com/v1', key: 'k', baseUrl, fetch })
  t.match(await api.findSubscription('sub_1'), { status: 'active' })
  t.equal(await api.findSubscription('sub_none'), 'unknown')
  await t.rejects(api.findSubscription('sub_2'), /another object/)
  await t.rejects(api.findSubscription('sub_500'), /answered 500/)
  t.match(await api.findInvoice?.('in_1'), { id: 'in_1' })
  t.match(await api.findRelated?.('checkout/sessions/cs_1'), { id: 'cs_1' })
  const before = asked.length
  t.equal(await api.findSubscription('../charges/ch_1'), 'unknown')
  t.equal(asked.length, before, 'an id that is no id is not asked for')
})

t.test('Stripe: a subscription comes with its schedule, if the key may read it', async (t) => {
  const of = (id: string, schedule: unknown): Reply => [200, { id, schedule }]
  const { fetch } = answering({
    '/v1/subscriptions/sub_1': of('sub_1', 'sub_sched_1'),
    '/v1/subscriptions/sub_2': of('sub_2', 'sub_sched_2'),
    '/v1/subscriptions/sub_3': of('sub_3', null),
    '/v1/subscriptions/sub_4': of('sub_4', 'sub_sched_4'),
    '/v1/subscriptions/sub_5': of('sub_5', 'sub_sched_5'),
    '/v1/subscription_schedules/sub_sched_1': [200, { id: 'sub_sched_1', status: 'active' }],
    '/v1/subscription_schedules/sub_sched_2': [403, { error: { type: 'invalid_request_error' } }],
    '/v1/subscription_schedules/sub_sched_4': [200, { id: 'sub_sched_1' }],
    '/v1/subscription_schedules/sub_sched_5': [500, {}],
  })
  const api = createStripeApi({ url: 'https://api.stripe.com/v1', key: 'k', baseUrl, fetch })
  t.match(await api.findSubscription('sub_1'), { schedule: { status: 'active' } })
  t.match(await api.findSubscription('sub_2'), { schedule: 'sub_sched_2' })
  t.match(await api.findSubscription('sub_3'), { schedule: null })
  await t.rejects(api.findSubscription('sub_4'), /something else/)
  await t.rejects(api.findSubscription('sub_5'), /answered 500/)
})

t.test('the holder of a customer is who this installation has noted', async (t) => {
  const mine = { gatehouse_user: '7', gatehouse_origin: baseUrl }
  const other = { gatehouse_user: '7', gatehouse_origin: 'https://staging.example.com' }
  const tenantId = '0198c0de-0000-4000-8000-000000000001'
  const ofTenant = { gatehouse_tenant: tenantId, gatehouse_origin: baseUrl }
  const { fetch } = answering({
    '/v1/customers/cus_1': [200, { id: 'cus_1', metadata: mine }],
    '/v1/customers/cus_2': [200, { id: 'cus_2', metadata: other }],
    '/v1/customers/cus_3': [200, { id: 'cus_3', metadata: ofTenant }],
    '/v1/customers/cus_4': [200, { id: 'cus_4', metadata: { ...mine, ...ofTenant } }],
    '/v1/customers/cus_5': [200, { id: 'cus_5', metadata: { ...ofTenant, gatehouse_tenant: "'" } }],
    '/customers/ctm_1': [200, { data: { id: 'ctm_1', custom_data: mine } }],
    '/customers/ctm_2': [200, { data: { id: 'ctm_2', custom_data: null } }],
    '/customers/ctm_3': [200, { data: { id: 'ctm_3', custom_data: ofTenant } }],
  })
  const stripe = createStripeApi({ url: 'https://api.stripe.com/v1', key: 'k', baseUrl, fetch })
  const paddle = createPaddleApi({ url: 'https://api.paddle.com', key: 'k', baseUrl, fetch })
  t.strictSame(await stripe.findHolder?.('cus_1'), { userId: 7 })
  t.equal(await stripe.findHolder?.('cus_2'), null)
  t.equal(await stripe.findHolder?.('cus_none'), null)
  t.strictSame(await stripe.findHolder?.('cus_3'), { tenantId })
  t.equal(await stripe.findHolder?.('cus_4'), null, 'both a user and a tenant')
  t.equal(await stripe.findHolder?.('cus_5'), null, 'no id')
  t.strictSame(await paddle.findHolder?.('ctm_1'), { userId: 7 })
  t.strictSame(await paddle.findHolder?.('ctm_3'), { tenantId })
  t.equal(await paddle.findHolder?.('ctm_2'), null)
})

t.test(
  'Paddle: the customer that a refusal names is ours only if it is marked with this user',
  async (t) => {
    const detail = 'customer email conflicts with customer of id ctm_7'
    const marked = (user: string) => ({
      custom_data: { gatehouse_user: user, gatehouse_origin: baseUrl },
    })
    for (const [custom, expected] of [
      [marked('7'), 'ctm_7'],
      [marked('8'), null],
      [{ custom_data: null }, null],
    ] as const) {
      const { fetch, asked } = answering({
        '/customers': [409, { error: { code: 'customer_already_exists', detail } }],
        '/customers/ctm_7': [200, { data: { id: 'ctm_7', ...custom } }],
      })
      const api = createPaddleApi({ url: 'https://api.paddle.com', key: 'k', baseUrl, fetch })
      const payer = { holder: { userId: 7 }, verifiedEmail: 'ada@acme.example' }
      t.equal(await api.createCustomer(payer), expected)
      t.strictSame(asked, ['/customers', '/customers/ctm_7'])
    }
  },
)

t.test('Paddle: a customer with this address that is not ours is not taken over', async (t) => {
  const conflict: Reply = [409, { error: { code: 'customer_already_exists' } }]
  const foreign = { custom_data: { gatehouse_user: '8', gatehouse_origin: baseUrl } }
  const own = { custom_data: { gatehouse_user: '7', gatehouse_origin: baseUrl } }
  const { fetch, asked } = answering({
    '/customers': conflict,
    '/customers?email=ada@acme.example': [200, { data: [{ id: 'ctm_8', ...foreign }] }],
    '/customers?email=ada+own@acme.example': [200, { data: [{ id: 'ctm_7', ...own }] }],
    '/transactions': [201, { data: { checkout: { url: 'https://pay.example/?_ptxn=txn_1' } } }],
    '/customers/ctm_1/portal-sessions': [
      201,
      { data: { urls: { general: { overview: 'https://portal.example' } } } },
    ],
  })
  const api = createPaddleApi({ url: 'https://api.paddle.com', key: 'k', baseUrl, fetch })
  const payer = { holder: { userId: 7 }, verifiedEmail: 'ada@acme.example' }
  t.equal(await api.createCustomer(payer), null)
  t.equal(await api.createCustomer({ ...payer, verifiedEmail: null }), null)
  t.equal(
    await api.createCustomer({ ...payer, verifiedEmail: 'ada+own@acme.example' }),
    'ctm_7',
    'a checkout that was interrupted goes on',
  )
  const order = { price: 'pri_1', returnUrl: baseUrl, quantity: 1 }
  t.match(await api.startCheckout('ctm_1', payer, order), { url: /txn_1$/ })
  t.strictSame(await api.openPortal('ctm_1', baseUrl), { url: 'https://portal.example' })
  t.equal(await api.openPortal('ctm_2', baseUrl), 'customer-gone')
  const before = asked.length
  await t.rejects(api.openPortal('../transactions', baseUrl), /no id of Paddle/)
  t.equal(asked.length, before)
})

t.test('Paddle: a price, a customer and a fault of its settings are told apart', async (t) => {
  for (const [code, status, expected] of [
    ['transaction_price_not_found', 400, 'price-refused'],
    ['transaction_product_not_found', 400, 'price-refused'],
    ['invalid_field', 400, 'price-refused'],
    ['not_found', 404, 'customer-gone'],
    ['transaction_customer_not_found', 400, 'customer-gone'],
    ['transaction_default_checkout_url_not_set', 400, null],
  ] as const) {
    const { fetch } = answering({ '/transactions': [status, { error: { code } }] })
    const api = createPaddleApi({ url: 'https://api.paddle.com', key: 'k', baseUrl, fetch })
    const payer = { holder: { userId: 7 }, verifiedEmail: 'ada@acme.example' }
    const started = api.startCheckout('ctm_1', payer, {
      price: 'pri_1',
      returnUrl: baseUrl,
      quantity: 1,
    })
    if (expected === null) await t.rejects(started, { message: new RegExp(code) })
    else t.equal(await started, expected, code)
  }
})

t.test('an answer that is too large or too late is an error', async (t) => {
  // The deadline alone does not keep the process running.
  const keptRunning = setInterval(() => {}, 1_000)
  t.teardown(() => clearInterval(keptRunning))
  const huge: typeof globalThis.fetch = async () => new Response('x'.repeat(300_000))
  const slow: typeof globalThis.fetch = (_input, init) =>
    new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
    })
  const options = { url: 'https://api.stripe.com/v1', key: 'k', baseUrl }
  await t.rejects(
    createStripeApi({ ...options, fetch: huge }).findSubscription('sub_1'),
    /the answer is too large/,
  )
  await t.rejects(
    createStripeApi({ ...options, fetch: slow, timeoutMs: 1 }).findSubscription('sub_1'),
    /timed out/,
  )
})

t.test('Stripe: what is refunded leaves out refunds that failed', async (t) => {
  const list = (...refunds: object[]): Reply => [200, { data: refunds, has_more: false }]
  const { fetch } = answering({
    '/v1/refunds?payment_intent=pi_1&limit=100': list(
      { amount: 1_000, status: 'succeeded' },
      { amount: 2_000, status: 'failed' },
      { amount: 400, status: 'pending' },
      { amount: 800, status: 'canceled' },
    ),
    '/v1/refunds?charge=ch_1&limit=100': list(),
    '/v1/refunds?payment_intent=pi_2&limit=100': list({ amount: '1', status: 'succeeded' }),
    '/v1/refunds?payment_intent=pi_3&limit=100': [200, { data: [], has_more: true }],
  })
  const api = createStripeApi({ url: 'https://api.stripe.com/v1', key: 'k', baseUrl, fetch })
  const refunded = async (payment: string) => api.findRefunded?.(payment)
  t.equal(await refunded('pi_1'), 1_400)
  t.equal(await refunded('ch_1'), 0)
  await t.rejects(refunded('pi_2'), /not an amount/)
  t.equal(await refunded('pi_3'), null, 'a list that is not whole says nothing')
  t.equal(await refunded('pi_4'), null, 'nor does one of another account')
  await t.rejects(refunded('../pi_1'), /something else/)
})

t.test('Stripe: of the checkouts of a person one is open', async (t) => {
  const mine = (price: string) => ({
    metadata: { gatehouse_user: '7', gatehouse_origin: baseUrl, gatehouse_price: price },
    success_url: baseUrl,
    status: 'open',
  })
  const start = async (sessions: object[], paid: string | null = null) => {
    const asked: [string | undefined, unknown][] = []
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const { pathname, search } = new URL(String(input))
      const path = `${pathname}${search}`.replace('/v1/checkout/sessions', '')
      asked.push([init?.method, path])
      if (pathname.endsWith('/expire')) {
        return Response.json({}, { status: path === `/${paid}/expire` ? 400 : 200 })
      }
      if (init?.method === 'GET') return Response.json({ data: sessions, has_more: false })
      asked.push(['key', new Headers(init?.headers).get('idempotency-key')])
      return Response.json({ id: 'cs_new', url: 'https://checkout.example/new' })
    }
    const api = createStripeApi({ url: 'https://api.stripe.com/v1', key: 'k', baseUrl, fetch })
    const order = { price: 'price_pro', returnUrl: baseUrl, quantity: 1 }
    const page = await api.startCheckout(
      'cus_1',
      { holder: { userId: 7 }, verifiedEmail: null },
      order,
    )
    const ended = asked.flatMap(([, path]) => /^\/(\w+)\/expire$/.exec(String(path))?.[1] ?? [])
    const key = asked.find(([name]) => name === 'key')?.[1] ?? null
    return { page, ended, key, first: asked[0] }
  }
  const created = { page: { url: 'https://checkout.example/new' } }
  const first = await start([])
  t.match(first, { ...created, ended: [], first: ['GET', '?customer=cus_1&limit=100'] })
  t.equal((await start([])).key, first.key, 'two requests at once get the same checkout')
  const old = { id: 'cs_0', ...mine('price_pro'), status: 'complete' }
  const later = await start([old])
  t.match(later, { ...created, ended: [] }, 'a later one is another')
  t.not(later.key, first.key)
  const same = { id: 'cs_1', ...mine('price_pro'), url: 'https://checkout.example/same' }
  const others = [
    { id: 'cs_2', ...mine('price_team') },
    { id: 'cs_3', ...mine('price_pro'), success_url: `${baseUrl}/elsewhere` },
    { id: 'cs_4', ...mine('price_team'), metadata: {} },
    { id: 'cs_5', ...mine('price_team'), status: 'expired' },
  ]
  const again = { page: { url: 'https://checkout.example/same' }, ended: ['cs_2', 'cs_3'] }
  t.match(await start([...others, same]), { ...again, key: null }, 'the same again')
  t.match(await start(others), { ...created, ended: ['cs_2', 'cs_3'] }, 'the others are ended')
  t.match(await start(others, 'cs_2'), { page: 'just-paid', ended: ['cs_2'], key: null })
})

t.test('what a price costs is one number each interval, or nothing', async (t) => {
  const recurring = { interval: 'year', interval_count: 1, trial_period_days: 14 }
  const price = { active: true, unit_amount: 49_000, currency: 'huf', recurring }
  const unit_price = { amount: '4900', currency_code: 'JPY' }
  const billing_cycle = { interval: 'month', frequency: 3 }
  const ofPaddle = { status: 'active', unit_price, billing_cycle, trial_period: null }
  const refused = {
    tiers: { ...price, unit_amount: null },
    once: { ...price, recurring: null },
    retired: { ...price, active: false },
    never: { ...price, recurring: { ...recurring, interval_count: 0 } },
  }
  const archived = {
    archived: { ...ofPaddle, status: 'archived' },
    once: { ...ofPaddle, billing_cycle: null },
    odd: { ...ofPaddle, unit_price: { ...unit_price, amount: '4.9' } },
  }
  const trial_period = { interval: 'week', frequency: 2 }
  const { fetch, asked } = answering({
    '/v1/prices/yearly': [200, { id: 'yearly', ...price }],
    ...Object.fromEntries(
      Object.entries(refused).map(([id, one]): [string, Reply] => [
        `/v1/prices/${id}`,
        [200, { id, ...one }],
      ]),
    ),
    '/prices/quarterly': [200, { data: { id: 'quarterly', ...ofPaddle } }],
    '/prices/trial': [200, { data: { id: 'trial', ...ofPaddle, trial_period } }],
    ...Object.fromEntries(
      Object.entries(archived).map(([id, one]): [string, Reply] => [
        `/prices/${id}`,
        [200, { data: { id, ...one } }],
      ]),
    ),
    '/v1/prices/broken': [500, {}],
  })
  const stripe = createStripeApi({ url: 'https://api.stripe.com/v1', key: 'k', baseUrl, fetch })
  const paddle = createPaddleApi({ url: 'https://api.paddle.com', key: 'k', baseUrl, fetch })
  t.strictSame(await stripe.findPrice('yearly'), {
    ...{ amount: 49_000, currency: 'huf', digits: 2, interval: 'year', intervalCount: 1 },
    trialDays: 14,
  })
  const quarterly = { amount: 4_900, currency: 'jpy', digits: 0, interval: 'month' }
  t.strictSame(await paddle.findPrice('quarterly'), {
    ...{ ...quarterly, intervalCount: 3, trialDays: null },
  })
  t.match(await paddle.findPrice('trial'), { trialDays: 14 })
  for (const id of Object.keys(refused)) t.equal(await stripe.findPrice(id), null, id)
  for (const id of Object.keys(archived)) t.equal(await paddle.findPrice(id), null, id)
  t.equal(await stripe.findPrice('none'), null)
  await t.rejects(stripe.findPrice('broken'), /answered 500/)
  const before = asked.length
  t.equal(await stripe.findPrice('../charges/ch_1'), null)
  t.equal(asked.length, before)
})
