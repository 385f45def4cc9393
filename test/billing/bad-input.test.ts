import { readFile } from 'node:fs/promises'
import type { LightMyRequestResponse } from 'fastify'
import { Stripe } from 'stripe'
import t, { type Test } from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import type { BillingProvider } from '#src/billing/providers/provider.ts'
import { signedAs } from '#src/billing/sample.ts'
import { createLogger } from '#src/observability/logger.ts'
import { systemClock, unixSeconds } from '#src/runtime/clock.ts'
import { startWorker } from '#src/worker.ts'
import { startProvider, stripe, usual } from '#test/routes/api/stripe-provider.ts'
import { addOperator, build } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { until } from '#test/support/database/until.ts'
import { stripeCharge, stripeEvent, stripeSubscription } from './providers/bodies.ts'

const secret = 'whsec_0123456789'
const now = () => ({ id: 'msg_1', created: unixSeconds(systemClock) })
const unsigned = `t=1,v1=${'0'.repeat(64)}`
const refused = { statusCode: 400, body: 'bad signature' }
const recorded = { statusCode: 200, body: 'recorded' }

/** A server with Stripe as its provider, a worker, an operator and a person. */
async function open(t: Test, { production = false } = {}) {
  const sample = await startProvider(t, (call) => (call.method === 'GET' ? [404, {}] : usual(call)))
  const settings = { ...stripe(sample.url), OPERATORS: 'demo:olga' }
  const test = await build(t, settings, { production })
  const { app, database } = test
  const worker = await startWorker(test.config, createLogger('silent'))
  t.teardown(() => worker.stop())
  const operator = await createUser(database)
  await addIdentity(test, operator.userId, 'olga')
  await addOperator(database, 'demo:olga')
  const person = await createUser(database)
  const post = (payload: string, headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: '/webhooks/billing', payload, headers })
  const header = (payload: string) => Stripe.webhooks.generateTestHeaderString({ payload, secret })
  const select = async (sql: string, values: unknown[] = []) =>
    (await database.admin.query(sql, values)).rows
  return {
    /** Calls besides the worker's own look for missed events. */
    asked: () => sample.calls.filter(({ path }) => !path.startsWith('/v1/events?')),
    database,
    person,
    post,
    header,
    select,
    sendSigned: (payload: string) => post(payload, { 'stripe-signature': header(payload) }),
    asPerson: as(test, await signIn(test, person)),
    asOperator: as(test, await signIn(test, operator)),
    link: (customer: string) =>
      select('UPDATE users SET billing_customer = $1 WHERE id = $2', [customer, person.userId]),
    ended: () =>
      until(
        database,
        `SELECT WHERE NOT EXISTS (SELECT FROM received_events WHERE status = 'recorded')`,
      ),
    events: () =>
      select(
        'SELECT event_id AS id, status, outcome, body IS NOT NULL AS kept FROM received_events ORDER BY 1',
      ),
  }
}

type Scene = Awaited<ReturnType<typeof open>>

const charge = (id: string, more: Record<string, unknown> = {}) =>
  stripeEvent(id, 'charge.succeeded', stripeCharge(more))

/** Each input of docs/billing-events.md, with what its row says. */
const rows: Record<string, (t: Test, scene: Scene) => Promise<void>> = {
  async 'the header of another provider'(t, { post, sendSigned, select }) {
    const body = charge('evt_1')
    const others: BillingProvider['name'][] = ['signed', 'paddle', 'standard']
    for (const name of others)
      t.match(await post(body, signedAs(name, secret, body, now())), refused, name)
    t.strictSame(await select('SELECT FROM received_events'), [])
    t.match(await sendSigned(body), recorded, 'the provider sends it again')
  },
  async 'headers of several providers'(t, { post, header, events }) {
    const [good, wrong] = [charge('evt_1'), charge('evt_2')]
    const mixed = { 'webhook-signature': unsigned, 'paddle-signature': 'ts=1;h1=0' }
    t.match(await post(good, { ...mixed, 'stripe-signature': header(good) }), recorded)
    const foreign = signedAs('signed', secret, wrong, now())
    t.match(await post(wrong, { ...foreign, 'stripe-signature': unsigned }), refused)
    t.match(await events(), [{ id: 'evt_1' }])
    t.equal((await events()).length, 1)
  },
  async 'several signatures'(t, { post, header, select }) {
    const body = charge('evt_1')
    const [time = '', right = ''] = header(body).split(',')
    const wrong = (count: number) => Array.from({ length: count }, () => `v1=${'0'.repeat(64)}`)
    const sent = (...signatures: string[]) =>
      post(body, { 'stripe-signature': [time, ...signatures].join() })
    t.match(await sent(...wrong(2)), refused, 'none is right')
    t.match(await sent(...wrong(8), right), refused, 'nine')
    t.strictSame(await select('SELECT FROM received_events'), [])
    t.match(await sent(...wrong(7), right), recorded, 'one of eight is right')
  },
  async 'an unknown currency'(t, { link, sendSigned, ended, events, select }) {
    await link('cus_1')
    const yen = { amount: 700, amount_captured: 700, currency: 'jpy' }
    t.match(await sendSigned(charge('evt_1', { currency: 'euro' })), recorded)
    t.match(await sendSigned(charge('evt_2', { ...yen, payment_intent: 'pi_2' })), recorded)
    await ended()
    t.match(await events(), [
      { id: 'evt_1', status: 'dead', kept: true },
      { id: 'evt_2', status: 'processed' },
    ])
    const invoices = await select('SELECT amount, currency FROM invoices')
    t.strictSame(invoices, [{ amount: '700', currency: 'jpy' }])
  },
  async 'an amount beyond 2^53 − 1'(t, { link, sendSigned, ended, events, select }) {
    await link('cus_1')
    const of = (amount: number) => ({ amount, amount_captured: amount })
    const most = Number.MAX_SAFE_INTEGER
    t.match(await sendSigned(charge('evt_1', of(most + 1))), recorded)
    t.match(await sendSigned(charge('evt_2', { ...of(most), payment_intent: 'pi_2' })), recorded)
    await ended()
    t.match(await events(), [
      { id: 'evt_1', status: 'dead', kept: true },
      { id: 'evt_2', status: 'processed' },
    ])
    t.strictSame(await select('SELECT amount FROM invoices'), [{ amount: String(most) }])
  },
  async 'a customer linked to two users'(
    t,
    { database, person, asOperator, sendSigned, ended, select },
  ) {
    const other = await createUser(database)
    const link = (customer: string, userId: number) =>
      asOperator('PUT', `/billing/customers/${customer}`, { userId })
    t.match(await link('cus_1', person.userId), { statusCode: 200 })
    const active = stripeEvent('evt_1', 'customer.subscription.created', stripeSubscription())
    t.match(await sendSigned(active), recorded)
    await ended()
    t.match(await link('cus_1', other.userId), { statusCode: 200 }, 'it moves')
    const holders = 'SELECT id::int, plan FROM users WHERE billing_customer IS NOT NULL'
    t.strictSame(await select(holders), [{ id: other.userId, plan: 'pro' }])
    t.match(await link('cus_2', other.userId), { statusCode: 409, body: /another/ })
    t.strictSame(await select(holders), [{ id: other.userId, plan: 'pro' }])
  },
  async 'a price that is not in `BILLING_PLANS`'(
    t,
    { link, asked, asPerson, sendSigned, ended, events, select },
  ) {
    const bought = await asPerson('POST', '/billing/checkout', { price: 'price_other' })
    t.match(bought, { statusCode: 400 })
    t.strictSame(asked(), [], 'the provider is not asked')
    await link('cus_1')
    const items = { data: [{ price: { id: 'price_other' } }] }
    const other = stripeSubscription({ items })
    t.match(
      await sendSigned(stripeEvent('evt_1', 'customer.subscription.created', other)),
      recorded,
    )
    await ended()
    t.match(await events(), [{ id: 'evt_1', status: 'processed', kept: true }])
    t.match(await select('SELECT plan, status FROM billing_objects'), [
      { plan: null, status: 'active' },
    ])
    t.match((await asPerson('GET', '/me')).json(), {
      plan: null,
      subscription: { status: 'active' },
    })
  },
  async 'a checkout while a plan runs'(t, { select, person, asPerson, asked }) {
    await select(`UPDATE users SET plan = 'pro', subscription_status = 'active' WHERE id = $1`, [
      person.userId,
    ])
    for (const price of ['price_pro', 'price_team']) {
      const answer = await asPerson('POST', '/billing/checkout', { price })
      t.match(answer, { statusCode: 409, body: /You have a plan already/ }, price)
    }
    t.strictSame(asked(), [], 'no second subscription')
  },
  async 'a portal without a customer'(t, { asPerson, asked }) {
    const answer: LightMyRequestResponse = await asPerson('POST', '/billing/portal')
    t.match(answer, { statusCode: 409, body: /no customer for you/ })
    t.strictSame(asked(), [])
  },
}

t.test('Bad input: each has its documented answer, and nothing is lost', async (t) => {
  for (const [name, check] of Object.entries(rows)) {
    await t.test(name, async (t) => check(t, await open(t)))
  }
  await t.test('the wrong mode', async (t) => {
    const { sendSigned, events } = await open(t, { production: true })
    const test = stripeEvent('evt_1', 'charge.succeeded', stripeCharge(), { livemode: false })
    t.match(await sendSigned(test), { statusCode: 200, body: 'ignored' })
    t.strictSame(await events(), [
      { id: 'evt_1', status: 'ignored', outcome: 'test-mode', kept: true },
    ])
  })
})

t.test('the documentation has exactly these inputs', async (t) => {
  const page = await readFile(new URL('../../docs/billing-events.md', import.meta.url), 'utf8')
  const [, table = ''] = /### Bad input\n\n[^|]*([\s\S]*?)\n\n/.exec(page) ?? []
  const [, , ...lines] = table.split('\n')
  t.same(
    lines.map((line) => line.split('|')[1]?.trim()).sort(),
    [...Object.keys(rows), 'the wrong mode'].sort(),
  )
})
