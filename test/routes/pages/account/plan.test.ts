import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { startProvider, stripe, usual } from '../../api/stripe-provider.ts'

type Row = { plan?: string; status?: string; cancelsAt?: string; customer?: string }

async function open(t: Test, settings: Record<string, string>) {
  const test = await build(t, settings)
  const user = await createUser(test.database)
  const { cookie } = await signIn(test, user)
  const headers = { cookie, accept: 'text/html' }
  const section = async () => {
    const { body } = await test.app.inject({ url: '/app/account', headers })
    return /<section[^>]*aria-labelledby="plan"[\s\S]*?<\/section>/.exec(body)?.[0] ?? ''
  }
  const set = ({ plan, status, cancelsAt, customer }: Row) =>
    test.database.admin.query(
      `UPDATE users SET plan = $2, subscription_status = $3, subscription_cancels_at = $4,
         subscription_period_end = '2036-12-24T10:00:00Z', billing_customer = $5 WHERE id = $1`,
      [user.userId, plan ?? null, status ?? null, cancelsAt ?? null, customer ?? null],
    )
  const post = (url: string, payload = '') =>
    test.app.inject({
      ...{ method: 'POST', url, payload },
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    })
  const plans = async () =>
    (await test.app.inject({ url: '/billing/plans', headers: { cookie } })).json().data
  return { test, user, section, set, post, plans }
}

t.test('the account page shows the plan, its state, its end and what can be done', async (t) => {
  const provider = await startProvider(t, usual)
  const { section, set } = await open(t, stripe(provider.url))
  const [buy, manage, both] = ['Buy pro', 'Change or cancel', 'Cards and invoices']
  const buttons = [buy, manage, both, 'Buy team']
  const cases: [Row, shown: (string | RegExp)[], offered: string[]][] = [
    [{}, ['>free<'], [buy, 'Buy team']],
    [
      { plan: 'pro', status: 'active', customer: 'cus_1' },
      ['>pro<', '>Active<', /Renews<[\s\S]*24 Dec 2036, 10:00 UTC/],
      [manage],
    ],
    [
      { plan: 'pro', status: 'trialing', cancelsAt: '2036-11-30T00:00:00Z', customer: 'cus_1' },
      ['>Trial<', /Ends<[\s\S]*30 Nov 2036/],
      [manage],
    ],
    [
      { plan: 'pro', status: 'past_due', customer: 'cus_1' },
      ['>Payment failed<', 'check your card', 'Period ends'],
      [manage],
    ],
    [{ status: 'unpaid', customer: 'cus_1' }, ['>Unpaid<'], [buy, both, 'Buy team']],
    [
      { plan: 'pro', status: 'active', cancelsAt: '2020-01-01T00:00:00Z', customer: 'cus_1' },
      ['>free<', '>Ended<', /1 Jan 2020/],
      [buy, both, 'Buy team'],
    ],
    [{ plan: 'pro', status: 'active' }, ['>pro<'], []],
  ]
  for (const [row, shown, offered] of cases) {
    await set(row)
    const text = await section()
    for (const one of shown) t.match(text, one, JSON.stringify(row))
    t.strictSame(
      buttons.filter((label) => text.includes(`>${label}<`)).sort(),
      [...offered].sort(),
      JSON.stringify(row),
    )
  }
})

t.test('the plans to choose from have their price, and the present one is marked', async (t) => {
  const recurring = { interval: 'month', interval_count: 1, trial_period_days: 14 }
  const price = { active: true, unit_amount: 4_900, currency: 'eur', recurring }
  const yearly = { ...recurring, interval: 'year', trial_period_days: null }
  const provider = await startProvider(t, ({ path }) =>
    path === '/v1/prices/price_year'
      ? [200, { ...price, id: 'price_year', unit_amount: 49_000, recurring: yearly }]
      : path === '/v1/prices/price_pro'
        ? [200, { ...price, id: 'price_pro' }]
        : [404, {}],
  )
  const { section, set, plans } = await open(t, {
    ...stripe(provider.url),
    BILLING_PLANS: 'price_pro:pro,price_year:pro,price_team:team',
  })
  const items = async () =>
    [...(await section()).matchAll(/<li>\s*<h3>[\s\S]*?<\/li>/g)].map(([text]) =>
      text
        .replaceAll(/<[^>]*>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
  t.strictSame(await items(), [
    'pro 14 days free, then 49.00 EUR a month Buy pro , 14 days free, then 49.00 EUR a month 490.00 EUR a year Buy pro , 490.00 EUR a year',
    'team Buy team',
  ])
  const monthly = { amount: 4_900, currency: 'eur', digits: 2, interval: 'month', intervalCount: 1 }
  await set({ plan: 'team', status: 'active', customer: 'cus_1' })
  t.strictSame(await plans(), [
    {
      ...{ plan: 'pro', name: 'pro', isCurrent: false, features: [], limits: [] },
      prices: [
        { price: 'price_pro', terms: { ...monthly, trialDays: null } },
        {
          price: 'price_year',
          terms: { ...monthly, amount: 49_000, interval: 'year', trialDays: null },
        },
      ],
    },
    {
      ...{ plan: 'team', name: 'team', isCurrent: true, features: [], limits: [] },
      prices: [{ price: 'price_team', terms: null }],
    },
  ])
  t.strictSame(await items(), ['pro 49.00 EUR a month 490.00 EUR a year', 'team Yours'])
})

t.test('the page shows what is paid for, and what happens next', async (t) => {
  const provider = await startProvider(t, usual)
  const { test, section, set } = await open(t, stripe(provider.url))
  await set({ plan: 'pro', status: 'active', customer: 'cus_1' })
  t.notMatch(await section(), 'What you pay', 'nothing is known of it')
  const at = '2036-12-18T10:00:00.000Z'
  const item = { quantity: 1, amount: 4_900, interval: 'month', intervalCount: 1 }
  const details = {
    ...{ currency: 'eur', digits: 2, trialEndsAt: null, paymentsPaused: null },
    scheduledChange: null,
  }
  const put = (id: string, status: string, change: object) =>
    test.database.admin.query(
      `INSERT INTO billing_objects (object_id, kind, customer, status, details, period_end)
       VALUES ($1, 'subscription', 'cus_1', $2, $3, $4)`,
      [id, status, { ...details, items: [{ ...item, price: 'price_pro' }], ...change }, at],
    )
  await put('sub_1', 'active', {})
  await put('sub_2', 'trialing', {
    trialEndsAt: at,
    items: [
      { ...item, price: 'price_seats', quantity: 3, interval: 'year' },
      { ...item, price: null, amount: null, quantity: 1_200 },
    ],
  })
  await put('sub_3', 'active', { paymentsPaused: { until: null } })
  await put('sub_4', 'past_due', {})
  await put('sub_5', 'active', { scheduledChange: { kind: 'cancel', at } })
  await put('sub_6', 'canceled', {})
  await put('sub_7', 'active', {
    currency: 'huf',
    digits: 0,
    scheduledChange: { kind: 'change', at: null },
  })
  const shown = await section()
  t.match(shown, '<h3>What you pay</h3>')
  const rows = [...shown.matchAll(/<tr role="row"><td[\s\S]*?<\/tr>/g)].map(([row]) =>
    [...row.matchAll(/<td[^>]*>([\s\S]*?)<\/td>/g)].map(([, cell = '']) =>
      cell.replaceAll(/<[^>]*>/g, '').trim(),
    ),
  )
  const time = /18 Dec 2036/
  t.match(rows.toSorted(), [
    ['Subscription', '1,200 × price at the provider', 'Trial', time],
    ['price_seats', '3 × 49.00 EUR a year', 'Trial', /^Trial ends 18 Dec 2036/],
    ['pro', '4,900 HUF a month', 'Active', 'Changes'],
    ['pro', '49.00 EUR a month', 'Active', /^Ends 18 Dec 2036/],
    ['pro', '49.00 EUR a month', 'Active', 'Payments paused'],
    ['pro', '49.00 EUR a month', 'Active', /^Renews 18 Dec 2036/],
    ['pro', '49.00 EUR a month', 'Payment failed', '–'],
  ])
  t.equal(rows.length, 7, 'not what has ended')
})

t.test('a trial that the page promises is asked for, once for each person', async (t) => {
  const recurring = { interval: 'month', interval_count: 1, trial_period_days: 14 }
  const price = { active: true, unit_amount: 4_900, currency: 'eur', recurring }
  const provider = await startProvider(t, (call) =>
    call.path === '/v1/prices/price_pro' ? [200, { ...price, id: 'price_pro' }] : usual(call),
  )
  const { section, set, post, plans } = await open(t, stripe(provider.url))
  const trial = () => provider.calls.at(-1)?.form['subscription_data[trial_period_days]']
  t.match(await section(), '14 days free, then 49.00 EUR a month')
  t.match(await plans(), [{ plan: 'pro', prices: [{ terms: { trialDays: 14 } }] }, {}])
  t.equal((await post('/app/account/checkout', 'price=price_pro')).statusCode, 200)
  t.equal(trial(), '14')
  t.equal((await post('/app/account/checkout', 'price=price_team')).statusCode, 200)
  t.equal(trial(), undefined, 'another price has none')
  await set({ status: 'canceled', customer: 'cus_1' })
  t.notMatch(await section(), 'days free')
  t.match(await plans(), [{ plan: 'pro', prices: [{ terms: { trialDays: null } }] }, {}])
  t.equal((await post('/app/account/checkout', 'price=price_pro')).statusCode, 200)
  t.equal(trial(), undefined, 'they have had a subscription')
})

t.test('its forms lead to the provider, without a script', async (t) => {
  const provider = await startProvider(t, usual)
  const { test, user, set, post } = await open(t, stripe(provider.url))
  const bought = await post('/app/account/checkout', 'price=price_pro')
  t.match(bought, { statusCode: 200, headers: { refresh: '0; url=https://checkout.example/c' } })
  t.match(bought.body, '<a class="button" href="https://checkout.example/c" rel="noreferrer">')
  const session = provider.calls.at(-1)
  t.match(session?.form, { success_url: 'http://localhost:3000/app/account#plan' })
  t.match(await post('/app/account/portal'), { statusCode: 409, body: /no customer for you/ })
  await set({ plan: 'pro', status: 'active', customer: 'cus_1' })
  const opened = await post('/app/account/portal')
  t.match(opened, { statusCode: 200, headers: { refresh: '0; url=https://billing.example/p' } })
  const again = await post('/app/account/checkout', 'price=price_team')
  t.match(again, { statusCode: 409, body: /have a plan already/ })
  await set({})
  t.match(await post('/app/account/checkout', 'price=price_x'), { statusCode: 400 })
  t.match(await post('/app/account/checkout'), { statusCode: 400 })
  const { rows } = await test.database.admin.query(
    'SELECT billing_customer FROM users WHERE id = $1',
    [user.userId],
  )
  t.strictSame(rows, [{ billing_customer: null }])
})

t.test('an address that is no page is not opened', async (t) => {
  let url: unknown = ''
  const provider = await startProvider(t, ({ path }) => [
    200,
    path === '/v1/customers' ? { id: 'cus_new' } : { url },
  ])
  const { post } = await open(t, stripe(provider.url))
  for (const wrong of ['javascript:alert(1)', 'http://evil.example/', '/c', 7, null]) {
    url = wrong
    t.match(
      await post('/app/account/checkout', 'price=price_pro'),
      { statusCode: 503 },
      String(url),
    )
  }
})

t.test('without a checkout the page shows the plan and offers nothing', async (t) => {
  const { section, set } = await open(t, {})
  t.notMatch(await section(), '<form')
  await set({ plan: 'pro', status: 'active', customer: 'cus_1' })
  t.match(await section(), '>pro<')
  t.notMatch(await section(), '<form')
})
