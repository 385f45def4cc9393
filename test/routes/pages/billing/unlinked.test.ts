import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { createLogger } from '#src/observability/logger.ts'
import { startWorker } from '#src/worker.ts'
import {
  stripeCharge,
  stripeEvent,
  stripeInvoice,
  stripePayments,
  stripeSubscription,
} from '#test/billing/providers/bodies.ts'
import { receive } from '#test/billing/received.ts'
import { addOperator, build } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { until } from '#test/support/database/until.ts'

const form = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }
const path = '/app/billing/unlinked'
const settings = {
  OPERATORS: 'demo:olga',
  BILLING_PROVIDER: 'stripe',
  BILLING_WEBHOOK_SECRETS: 'whsec_0123456789',
  BILLING_PLANS: 'price_pro:pro,price_team:team',
}

async function setUp(t: Test) {
  const test = await build(t, settings)
  const { database } = test
  const operator = await createUser(database)
  await addIdentity(test, operator.userId, 'olga')
  await addOperator(database, 'demo:olga')
  const { cookie } = await signIn(test, operator)
  const wait = async (customer: string, body: string, status = 'unlinked') => {
    const { id, type } = JSON.parse(body)
    await receive(database, { id, type, status, body: Buffer.from(body) })
    if (status !== 'unlinked') return
    await database.admin.query('UPDATE received_events SET customer = $2 WHERE event_id = $1', [
      id,
      customer,
    ])
  }
  const open = async (url = path) =>
    (await test.app.inject({ url, headers: { ...form, cookie } })).body
  const send = (url: string, fields: Record<string, string>, more: Record<string, string> = {}) =>
    test.app.inject({
      ...{ method: 'POST', url, payload: new URLSearchParams(fields).toString() },
      headers: { ...form, cookie, ...more },
    })
  const statuses = async () =>
    (
      await database.admin.query(
        `SELECT array_agg(event_id || ' ' || status ORDER BY event_id) AS found FROM received_events`,
      )
    ).rows[0].found
  return { test, database, operator, wait, open, send, statuses }
}

/** The text of the card of each customer. */
function cardsOf(body: string): string[] {
  const sections = body.match(/<section class="card"[\s\S]*?<\/section>/g) ?? []
  return sections.map((one) => one.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' '))
}

t.test('each customer is shown with what waits for it: events, amounts, plan', async (t) => {
  const { wait, open } = await setUp(t)
  t.match(await open(), 'No event waits for a customer.')
  const customer = 'cus_1'
  const team = { items: { data: [{ price: { id: 'price_team' } }] } }
  const yen = { id: 'ch_2', payment_intent: 'pi_2', amount: 700, amount_captured: 700 }
  for (const body of [
    stripeEvent('a', 'customer.subscription.updated', stripeSubscription(team), { created: 20 }),
    stripeEvent('b', 'customer.subscription.created', stripeSubscription(), { created: 10 }),
    stripeEvent('c', 'charge.succeeded', stripeCharge()),
    stripeEvent('d', 'invoice.paid', stripeInvoice({ payments: stripePayments })),
    stripeEvent('e', 'charge.succeeded', stripeCharge({ ...yen, currency: 'jpy' })),
    stripeEvent('f', 'charge.succeeded', stripeCharge({ amount: 2 ** 53, amount_captured: 1 })),
  ]) {
    await wait(customer, body)
  }
  await wait('<i>2', stripeEvent('g', 'charge.succeeded', stripeCharge()))
  const body = await open()
  t.notMatch(body, '<i>')
  const [first = '', second = '', ...others] = cardsOf(body)
  t.match(first, /&lt;i&gt;2 .*Waiting events 1 .*Payments 49\.00 EUR Plan –/)
  t.match(second, /cus_1 .*Waiting events 6 .*Payments 49\.00 EUR, 700 JPY Plan team/)
  t.strictSame(others, [])
  t.match(second, / a customer\.subscription\.updated .* team b .* pro c .* 49\.00 EUR/)
  const alone = await open(`${path}?customer=cus_1`)
  t.equal(cardsOf(alone).length, 1)
  t.match(cardsOf(alone)[0], /cus_1/)
})

t.test('an operator links a customer there, and its events are processed', async (t) => {
  const { test, database, wait, open, send, statuses } = await setUp(t)
  const { userId } = await createUser(database, { email: 'ada@x.example', emailVerified: true })
  await wait('cus_1', stripeEvent('a', 'charge.succeeded', stripeCharge()))
  await wait('cus_1', stripeEvent('b', 'customer.subscription.created', stripeSubscription()))
  const nobody = await send(path, { customer: 'cus_1', user: 'eve@x.example' })
  t.match(nobody, { statusCode: 400, body: /There is no such user/ })
  const crossSite = { 'sec-fetch-site': 'cross-site' }
  t.equal((await send(path, { customer: 'cus_1', user: `${userId}` }, crossSite)).statusCode, 403)
  t.strictSame(await statuses(), ['a unlinked', 'b unlinked'])
  const linked = await send(path, { customer: 'cus_1', user: 'Ada@x.example' })
  t.match(linked, { statusCode: 303, headers: { location: `${path}?done=linked` } })
  const worker = await startWorker(test.config, createLogger('silent'))
  t.teardown(() => worker.stop())
  await until(
    database,
    `SELECT WHERE NOT EXISTS (SELECT FROM received_events WHERE status <> 'processed')`,
  )
  const { rows } = await database.admin.query(
    'SELECT plan, amount FROM users JOIN invoices ON tenant_id = own_tenant_id WHERE users.id = $1',
    [userId],
  )
  t.strictSame(rows, [{ plan: 'pro', amount: '4900' }])
  t.match(await open(`${path}?done=linked`), 'No event waits for a customer.')
  t.match(await open(`${path}?customer=cus_1`), 'This customer is linked.')
})

t.test('linking needs a recent sign-in, dismissing only a session', async (t) => {
  const { test, database, wait, send, statuses } = await setUp(t)
  const { userId } = await createUser(database)
  await wait('cus_1', stripeEvent('a', 'charge.succeeded', stripeCharge()))
  await database.admin.query(
    `UPDATE sessions SET authenticated_at = now() - interval '6 minutes', confirmed_at = NULL`,
  )
  const refused = await send(path, { customer: 'cus_1', user: `${userId}` })
  t.not(refused.headers.location, `${path}?done=linked`)
  const { rows } = await test.database.admin.query(
    'SELECT FROM users WHERE billing_customer IS NOT NULL',
  )
  t.strictSame(rows, [])
  const submission = crypto.randomUUID()
  const dismissal = { customer: 'cus_1', submission, reason: 'a test' }
  t.equal((await send(`${path}/dismiss`, dismissal)).statusCode, 303)
  t.strictSame(await statuses(), ['a dismissed'])
})

t.test('an operator dismisses what waits for a customer; linked later, it stays so', async (t) => {
  const { test, database, operator, wait, open, send, statuses } = await setUp(t)
  await wait('cus_1', stripeEvent('a', 'charge.succeeded', stripeCharge()))
  await wait('cus_1', stripeEvent('b', 'customer.subscription.created', stripeSubscription()))
  await wait('cus_2', stripeEvent('c', 'charge.succeeded', stripeCharge()))
  const dismissal = { submission: crypto.randomUUID(), customer: 'cus_1', reason: '<b>a test</b>' }
  for (const time of ['first', 'second']) {
    const done = await send(`${path}/dismiss`, dismissal)
    t.match(done, { statusCode: 303, headers: { location: `${path}?done=dismissed` } }, time)
  }
  t.strictSame(await statuses(), ['a dismissed', 'b dismissed', 'c unlinked'])
  const nothing = { ...dismissal, submission: crypto.randomUUID() }
  t.match(await send(`${path}/dismiss`, nothing), { statusCode: 404, body: /No event waits/ })
  t.strictSame(
    (await database.admin.query('SELECT action, target, user_id::int AS by FROM audit_log')).rows,
    [{ action: 'event-dismiss', target: '2 of cus_1: <b>a test</b>', by: operator.userId }],
  )
  t.match(cardsOf(await open(`${path}?customer=cus_1`))[0], /Dismissed events 2/)
  t.match(await open('/app/billing/a'), 'Reason: &lt;b&gt;a test&lt;/b&gt;')
  const { userId } = await createUser(database)
  await send(path, { customer: 'cus_1', user: `${userId}` })
  await send(path, { customer: 'cus_2', user: `${(await createUser(database)).userId}` })
  const worker = await startWorker(test.config, createLogger('silent'))
  t.teardown(() => worker.stop())
  await until(database, `SELECT FROM received_events WHERE event_id = 'c' AND status = 'processed'`)
  t.strictSame(await statuses(), ['a dismissed', 'b dismissed', 'c processed'])
})

t.test('an event that waits or fails links to its customer', async (t) => {
  const { database, wait, open } = await setUp(t)
  await wait('cus_1', stripeEvent('waits', 'charge.succeeded', stripeCharge()))
  await wait('', stripeEvent('dead', 'charge.succeeded', stripeCharge()), 'dead')
  await wait('', stripeEvent('failed', 'charge.succeeded', stripeCharge()), 'failed')
  await wait('', stripeEvent('dispute', 'charge.dispute.created', { id: 'dp_1' }), 'dead')
  const link = `href="${path}?customer=cus_1"`
  for (const id of ['waits', 'dead', 'failed']) t.match(await open(`/app/billing/${id}`), link, id)
  t.notMatch(await open('/app/billing/dispute'), `${path}?`)
  t.match(await open('/app/billing?status=unlinked'), link)
  await createUser(database, { billingCustomer: 'cus_1' })
  t.notMatch(await open('/app/billing/dead'), `${path}?`, 'a user has it')
})

t.test('a page has ten customers, and each is on one page', async (t) => {
  const { wait, open } = await setUp(t)
  const names = Array.from({ length: 23 }, (_, index) => `cus_${10 + index}`)
  for (const [index, name] of names.entries()) {
    await wait(name, stripeEvent(`evt_${index}`, 'charge.succeeded', stripeCharge()))
  }
  const seen: string[][] = []
  for (let url: string | undefined = path; url !== undefined; ) {
    const body: string = await open(url)
    seen.push(cardsOf(body).map((card) => /cus_\d+/.exec(card)?.[0] ?? ''))
    url = /href="([^"]+cursor=[^"]+)"/.exec(body)?.[1]?.replaceAll('&amp;', '&')
  }
  t.strictSame(seen, [names.slice(0, 10), names.slice(10, 20), names.slice(20)])
})

t.test('nobody but operators has the page and its forms', async (t) => {
  const { test, database, wait, statuses } = await setUp(t)
  await wait('cus_1', stripeEvent('a', 'charge.succeeded', stripeCharge()))
  const admin = await createUser(database, { role: 'admin' })
  const { cookie } = await signIn(test, admin)
  const submission = crypto.randomUUID()
  for (const [url, fields] of [
    [path, null],
    [path, { customer: 'cus_1', user: `${admin.userId}` }],
    [`${path}/dismiss`, { submission, customer: 'cus_1', reason: 'a test' }],
  ] as const) {
    const answer = await test.app.inject({
      ...{ method: fields === null ? 'GET' : 'POST', url, headers: { ...form, cookie } },
      ...(fields !== null && { payload: new URLSearchParams(fields).toString() }),
    })
    t.equal(answer.statusCode, 403, url)
  }
  t.strictSame(await statuses(), ['a unlinked'])
})

t.test('customers with several subscriptions are shown with their user', async (t) => {
  const { database, open } = await setUp(t)
  t.notMatch(await open(), 'Customers with several subscriptions')
  const { userId } = await createUser(database, {
    billingCustomer: 'cus_1',
    email: 'ada@x.example',
  })
  const put = (id: string, customer: string, plan: string | null, beside: string | null) =>
    database.admin.query(
      `INSERT INTO billing_objects (object_id, kind, customer, plan, beside)
       VALUES ($1, 'subscription', $2, $3, $4)`,
      [id, customer, plan, beside],
    )
  await put('sub_a', 'cus_1', 'pro', null)
  await put('sub_b', 'cus_1', 'team', 'sub_a')
  await put('sub_c', 'cus_2', 'pro', null)
  await put('sub_d', 'cus_2', 'pro', 'sub_c')
  await put('sub_e', 'cus_3', 'pro', 'sub_f')
  await put('sub_f', 'cus_3', null, null)
  const [card = ''] = cardsOf(await open())
  t.match(
    card,
    new RegExp(`cus_1 ada@x.example user ${userId} sub_a, sub_b cus_2 None sub_c, sub_d`),
  )
  t.notMatch(card, 'cus_3', 'one of them has ended')
})
