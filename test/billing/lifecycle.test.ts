import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { noClientInfo } from '#src/audit/audit.ts'
import { linkCustomer } from '#src/billing/customers.ts'
import { measureDoublePayers } from '#src/billing/events.ts'
import { eventQueue } from '#src/billing/job.ts'
import { type ApplyOptions, applyEvent } from '#src/billing/process.ts'
import { paddle } from '#src/billing/providers/paddle.ts'
import { signed } from '#src/billing/providers/signed.ts'
import { stripe } from '#src/billing/providers/stripe.ts'
import { releaseUnlinked } from '#src/billing/unlinked.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { startQueue } from '#test/support/processes/running-worker.ts'
import {
  paddleAdjustment,
  paddleEvent,
  paddleSubscription,
  paddleTransaction,
  stripeCharge,
  stripeDispute,
  stripeEvent,
  stripeInvoice,
  stripePayments,
  stripeRefund,
  stripeSchedule,
  stripeSession,
  stripeSubscription,
  stripeThin,
} from './providers/bodies.ts'
import { openAsWorker, planOf, receive } from './received.ts'

const now = new Date('2026-11-21T12:00:00Z')
const baseUrl = 'https://app.example.com'
const plans = new Map([
  ['price_pro', 'pro'],
  ['price_team', 'team'],
])

/** A database in which events of a provider are received and processed at once. */
async function open(t: Test, options: ApplyOptions = {}) {
  const database = await createDatabase(t)
  const { db, systemDb } = openAsWorker(t, database)
  const provider = options.provider ?? stripe({ production: true, baseUrl })
  const apply = async (body: string) => {
    const { id, event_id } = JSON.parse(body)
    const eventId: string = id ?? event_id
    await receive(database, { id: eventId, body: Buffer.from(body) })
    return applyEvent(db, eventId, now, { provider, ...options })
  }
  const select = async (sql: string) => (await database.admin.query(sql)).rows
  const published = async () =>
    (await select('SELECT type, body::json AS body FROM outbound_events ORDER BY sequence')).map(
      ({ type, body }) => [type, body.data],
    )
  return { database, db, systemDb, apply, select, published, provider }
}

async function paidTwice(systemDb: SystemDatabase, by: 'customer' | 'subscription') {
  const { billing } = createMetrics()
  await measureDoublePayers(systemDb, billing)
  const { values } = await billing.paidTwice.get()
  return values.find(({ labels }) => labels.by === by)?.value
}

let counter = 0
const subscription = (change: object, created: number, type = 'customer.subscription.updated') =>
  stripeEvent(`evt_${++counter}`, type, stripeSubscription({ ...change }), { created })

t.test('the plan follows the whole life of a subscription', async (t) => {
  const { database, apply, published } = await open(t, { plans })
  const { userId } = await createUser(database, { billingCustomer: 'cus_1' })
  const team = {
    items: { data: [{ current_period_end: 1_797_592_000, price: { id: 'price_team' } }] },
  }
  const other = { items: { data: [{ price: { id: 'price_unlisted' } }] } }
  const steps: [change: object, plan: string | null][] = [
    [{ status: 'incomplete' }, null],
    [{ status: 'trialing' }, 'pro'],
    [{ status: 'active' }, 'pro'],
    [{ status: 'active', ...team }, 'team'],
    [{ status: 'active', ...other }, null],
    [{ status: 'past_due' }, 'pro'],
    [{ status: 'unpaid' }, null],
    [{ status: 'active' }, 'pro'],
    [{ status: 'paused' }, null],
    [{ status: 'active', cancel_at_period_end: true }, 'pro'],
    [{ status: 'canceled' }, null],
  ]
  for (const [index, [change, plan]] of steps.entries()) {
    t.equal(await apply(subscription(change, 1_000 + index)), 'processed')
    t.equal(await planOf(database, userId), plan, JSON.stringify(change))
  }
  t.strictSame(
    (await published()).map(([type]) => type),
    [
      'subscription.activated',
      'subscription.changed',
      'subscription.changed',
      'subscription.ended',
      'subscription.activated',
      'subscription.ended',
      'subscription.activated',
      'subscription.ended',
      'subscription.activated',
      'subscription.ended',
    ],
  )
  t.equal(await apply(subscription({ status: 'active' }, 5)), 'stale', 'an older state')
  t.equal(await apply(subscription({ status: 'active' }, 9_000)), 'stale', 'after its end')
  t.equal(await planOf(database, userId), null)
})

t.test(
  'an end that is reported late, or that an update follows, ends the plan for good',
  async (t) => {
    for (const status of ['canceled', 'incomplete_expired']) {
      const ends = (created: number) =>
        subscription({ status }, created, 'customer.subscription.deleted')
      for (const events of [
        [subscription({ status: 'active' }, 10), ends(11), subscription({ status: 'active' }, 12)],
        [subscription({ status: 'active' }, 12), ends(11)],
        [ends(11), subscription({ status: 'active' }, 12)],
      ]) {
        const { database, apply } = await open(t)
        const { userId } = await createUser(database, { billingCustomer: 'cus_1' })
        for (const event of events) await apply(event)
        t.equal(await planOf(database, userId), null)
        await apply(subscription({ id: 'sub_new', status: 'active' }, 20))
        t.equal(await planOf(database, userId), 'pro', 'who comes back has another subscription')
      }
    }
  },
)

t.test('of several plans the one that the operator lists last decides', async (t) => {
  const priced = (...prices: string[]) => ({
    items: { data: prices.map((id) => ({ current_period_end: 1_797_592_000, price: { id } })) },
  })
  const yearly = {
    items: { data: [{ current_period_end: 1_900_000_000, price: { id: 'price_pro' } }] },
  }
  const { database, apply } = await open(t, { plans })
  const { userId } = await createUser(database, { billingCustomer: 'cus_1' })
  await apply(subscription({ id: 'sub_a', ...yearly }, 10))
  await apply(subscription({ id: 'sub_b', ...priced('price_team') }, 11))
  t.equal(await planOf(database, userId), 'team', 'a yearly pro does not beat a monthly team')
  await apply(subscription({ id: 'sub_b', ...priced('price_team'), status: 'past_due' }, 12))
  t.equal(await planOf(database, userId), 'team')
  await apply(subscription({ id: 'sub_b', ...priced('price_team'), status: 'canceled' }, 13))
  t.equal(await planOf(database, userId), 'pro')
  await apply(subscription({ id: 'sub_a', ...priced('price_team', 'price_pro') }, 14))
  t.equal(await planOf(database, userId), 'team', 'of several prices too')
  const reversed = new Map([...plans].reverse())
  const other = await open(t, { plans: reversed })
  const { userId: another } = await createUser(other.database, { billingCustomer: 'cus_1' })
  await other.apply(subscription({ ...priced('price_team', 'price_pro') }, 10))
  t.equal(await planOf(other.database, another), 'pro', 'the order is the operator’s')
})

t.test('of two subscriptions the one that gives a plan decides', async (t) => {
  const { database, apply, published } = await open(t)
  const { userId } = await createUser(database, { billingCustomer: 'cus_1' })
  await apply(subscription({ id: 'sub_a', status: 'active' }, 10))
  await apply(subscription({ id: 'sub_b', status: 'active' }, 11))
  await apply(subscription({ id: 'sub_a', status: 'canceled' }, 12))
  t.equal(await planOf(database, userId), 'pro')
  await apply(subscription({ id: 'sub_b', status: 'canceled' }, 13))
  t.equal(await planOf(database, userId), null)
  t.strictSame(
    (await published()).map(([type]) => type),
    ['subscription.activated', 'subscription.ended'],
  )
})

t.test(
  'charge, invoice, refund and dispute of one payment are one invoice, in any order',
  async (t) => {
    const events = [
      stripeEvent('charge', 'charge.succeeded', stripeCharge()),
      stripeEvent('invoice', 'invoice.paid', stripeInvoice({ payments: stripePayments })),
      stripeEvent('part', 'charge.refunded', stripeCharge({ amount_refunded: 1_000 })),
      stripeEvent('whole', 'charge.refunded', stripeCharge({ amount_refunded: 4_900 })),
      stripeEvent('dispute', 'charge.dispute.created', stripeDispute(), { created: 10 }),
      stripeEvent('won', 'charge.dispute.closed', stripeDispute({ status: 'won' }), {
        created: 20,
      }),
    ]
    const orders = [
      [0, 1, 2, 3, 4, 5],
      [5, 4, 3, 2, 1, 0],
      [4, 3, 0, 5, 1, 2],
    ]
    for (const order of orders) {
      const { database, apply, select } = await open(t)
      await createUser(database, { billingCustomer: 'cus_1' })
      for (const index of order) t.equal(await apply(events[index] ?? ''), 'processed')
      t.match(await select('SELECT amount, amount_refunded, status, payment FROM invoices'), [
        { amount: '4900', amount_refunded: '4900', status: 'refunded', payment: 'pi_1' },
      ])
      t.equal((await select('SELECT FROM invoices')).length, 1, order.join())
    }
  },
)

t.test('an invoice keeps the digits by which its provider counts', async (t) => {
  for (const [currency, digits] of [
    ['huf', '2'],
    ['isk', '2'],
    ['jpy', '0'],
    ['kwd', '3'],
  ]) {
    const { database, apply, select, published } = await open(t)
    await createUser(database, { billingCustomer: 'cus_1' })
    await apply(stripeEvent('c', 'charge.succeeded', stripeCharge({ currency })))
    await apply(
      stripeEvent('r', 'charge.refunded', stripeCharge({ currency, amount_refunded: 900 })),
    )
    t.strictSame(await select('SELECT currency, digits FROM invoices'), [{ currency, digits }])
    const data = { currency, digits: Number(digits) }
    t.match(await published(), [
      ['invoice.created', data],
      ['invoice.updated', data],
    ])
  }
})

t.test('a dispute marks its invoice, and a won one no longer does', async (t) => {
  const { database, apply, published } = await open(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  const dispute = (id: string, status: string, created: number) =>
    stripeEvent(id, 'charge.dispute.closed', stripeDispute({ status }), { created })
  await apply(stripeEvent('c', 'charge.succeeded', stripeCharge()))
  await apply(stripeEvent('r', 'charge.refunded', stripeCharge({ amount_refunded: 900 })))
  await apply(stripeEvent('d', 'charge.dispute.created', stripeDispute(), { created: 10 }))
  await apply(dispute('w', 'won', 20))
  t.equal(await apply(dispute('l', 'lost', 15)), 'processed', 'an older state changes nothing')
  t.match(await published(), [
    ['invoice.created', { status: 'paid', amountRefunded: 0 }],
    ['invoice.updated', { status: 'paid', amountRefunded: 900 }],
    ['invoice.updated', { status: 'disputed', amountRefunded: 900 }],
    ['invoice.updated', { status: 'paid', amountRefunded: 900 }],
  ])
})

t.test(
  'an inquiry leaves a payment paid; a dispute that was lost is over, in any order',
  async (t) => {
    const event = (id: string, type: string, created: number, status: string) =>
      stripeEvent(id, type, stripeDispute({ status }), { created })
    const events = [
      event('i', 'charge.dispute.created', 10, 'warning_needs_response'),
      event('w', 'charge.dispute.funds_withdrawn', 20, 'needs_response'),
      event('l', 'charge.dispute.closed', 30, 'lost'),
    ]
    const { database, apply, published } = await open(t)
    await createUser(database, { billingCustomer: 'cus_1' })
    await apply(stripeEvent('c', 'charge.succeeded', stripeCharge()))
    for (const one of events) t.equal(await apply(one), 'processed')
    t.match(await published(), [
      ['invoice.created', { status: 'paid' }],
      ['invoice.updated', { status: 'disputed' }],
      ['invoice.updated', { status: 'lost' }],
    ])
    const other = await open(t)
    await createUser(other.database, { billingCustomer: 'cus_1' })
    for (const one of events.toReversed()) await other.apply(one)
    await other.apply(stripeEvent('c', 'charge.succeeded', stripeCharge()))
    t.strictSame(await other.select('SELECT status FROM invoices'), [{ status: 'lost' }])
  },
)

t.test('a refund that fails is taken back, in any order, and a later one counts', async (t) => {
  const charge = (id: string, created: number, amount_refunded: number) =>
    stripeEvent(id, 'charge.refunded', stripeCharge({ amount_refunded }), { created })
  const failed = (id: string, created: number) =>
    stripeEvent(id, 'refund.failed', stripeRefund({ status: 'failed' }), { created })
  const events = [
    stripeEvent('c', 'charge.succeeded', stripeCharge(), { created: 10 }),
    charge('r1', 20, 4_900),
    failed('f', 30),
    failed('f again', 31),
  ]
  for (const order of [
    [0, 1, 2, 3],
    [2, 3, 1, 0],
    [3, 0, 2, 1],
  ]) {
    const { database, apply, select } = await open(t)
    await createUser(database, { billingCustomer: 'cus_1' })
    for (const index of order) t.equal(await apply(events[index] ?? ''), 'processed')
    const state = 'SELECT amount_refunded, status FROM invoices'
    t.strictSame(await select(state), [{ amount_refunded: '0', status: 'paid' }], order.join())
    t.equal(await apply(charge('r2', 40, 4_900)), 'processed')
    t.strictSame(await select(state), [{ amount_refunded: '4900', status: 'refunded' }])
    t.equal(await apply(failed('f later', 50)), 'processed')
    t.strictSame(await select(state), [{ amount_refunded: '4900', status: 'refunded' }], 'once')
  }
})

t.test('a charge that is only authorized creates no invoice; its capture does', async (t) => {
  const { database, apply, select } = await open(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  const authorized = stripeCharge({ captured: false, amount_captured: 0 })
  t.equal(await apply(stripeEvent('a', 'charge.succeeded', authorized)), 'processed')
  t.strictSame(await select('SELECT FROM invoices'), [])
  t.equal(await apply(stripeEvent('b', 'charge.captured', stripeCharge())), 'processed')
  t.match(await select('SELECT amount FROM invoices'), [{ amount: '4900' }])
})

t.test(
  'what becomes of a payment reaches its invoice, whoever has the customer then',
  async (t) => {
    const { database, apply, select, systemDb } = await open(t)
    const queue = await startQueue(t, database, 'worker')
    const before = await createUser(database, { billingCustomer: 'cus_1' })
    const after = await createUser(database)
    const link = (userId: number | null) =>
      systemDb.transaction({ statementTimeoutMs: 5_000 }, (connection) =>
        linkCustomer(
          connection,
          queue,
          null,
          'cus_1',
          userId === null ? null : { userId },
          noClientInfo,
        ),
      )
    const invoices = () => select('SELECT tenant_id, amount_refunded, status FROM invoices')
    await apply(stripeEvent('c', 'charge.succeeded', stripeCharge(), { created: 1 }))
    await link(after.userId)
    const part = stripeCharge({ amount_refunded: 900 })
    t.equal(await apply(stripeEvent('r', 'charge.refunded', part, { created: 2 })), 'processed')
    const owned = { tenant_id: before.tenantId, amount_refunded: '900' }
    t.strictSame(await invoices(), [{ ...owned, status: 'paid' }])
    await link(null)
    const dispute = stripeEvent('d', 'charge.dispute.created', stripeDispute(), { created: 3 })
    t.equal(await apply(dispute), 'processed')
    t.strictSame(await invoices(), [{ ...owned, status: 'disputed' }])
    await database.admin.query('UPDATE billing_objects SET invoice_tenant = gen_random_uuid()')
    const closed = stripeDispute({ status: 'won' })
    const won = stripeEvent('w', 'charge.dispute.closed', closed, { created: 4 })
    t.equal(await apply(won), 'processed', 'the tenant has been deleted, and nothing waits')
  },
)

t.test('a subscription that moves to another customer takes its plan along', async (t) => {
  const { database, apply, published } = await open(t, { provider: paddle })
  const before = await createUser(database, { billingCustomer: 'ctm_1' })
  const after = await createUser(database, { billingCustomer: 'ctm_2' })
  const event = (id: string, customer_id: string, second: number, status = 'active') =>
    paddleEvent(id, 'subscription.updated', paddleSubscription({ customer_id, status }), {
      occurred_at: `2026-11-18T10:26:0${second}Z`,
    })
  await apply(event('a', 'ctm_1', 1))
  t.equal(await planOf(database, before.userId), 'pro')
  t.equal(await apply(event('b', 'ctm_2', 2)), 'processed')
  t.equal(await planOf(database, before.userId), null)
  t.equal(await planOf(database, after.userId), 'pro')
  t.match(await published(), [
    ['subscription.activated', { userId: before.userId }],
    ['subscription.ended', { userId: before.userId, plan: null, status: 'canceled' }],
    ['subscription.activated', { userId: after.userId }],
  ])
  t.equal(await apply(event('c', 'ctm_3', 3)), 'unlinked', 'to a customer that is not linked')
  t.equal(await planOf(database, after.userId), null)
})

t.test('refunds of Paddle add up, each once', async (t) => {
  const { database, apply, select } = await open(t, { provider: paddle })
  await createUser(database, { billingCustomer: 'ctm_1' })
  const refund = (id: string, change: Record<string, unknown>) =>
    paddleEvent(id, 'adjustment.updated', paddleAdjustment(change))
  await apply(refund('a', { id: 'adj_1' }))
  await apply(paddleEvent('t', 'transaction.completed', paddleTransaction()))
  await apply(refund('b', { id: 'adj_1' }))
  await apply(refund('c', { id: 'adj_2', totals: { total: '3900' } }))
  t.match(await select('SELECT amount, amount_refunded, status FROM invoices'), [
    { amount: '4900', amount_refunded: '4900', status: 'refunded' },
  ])
})

t.test(
  'an unlinked customer’s events wait, and are processed in order once it is linked',
  async (t) => {
    const { database, systemDb, db, apply, select, provider } = await open(t)
    const queue = await startQueue(t, database, 'worker')
    const { userId } = await createUser(database)
    const events = [
      subscription({ status: 'active' }, 10),
      subscription({ status: 'past_due' }, 11),
    ]
    for (const body of events) t.equal(await apply(body), 'unlinked')
    const waiting = 'SELECT status, customer FROM received_events'
    t.match(await select(waiting), [{ status: 'unlinked', customer: 'cus_1' }, {}])
    const linked = await systemDb.transaction({ statementTimeoutMs: 5_000 }, (connection) =>
      linkCustomer(connection, queue, null, 'cus_1', { userId }, noClientInfo),
    )
    t.strictSame(linked, { holder: { userId } })
    const [job] = await queue.fetch<{ customer: string }>('billing-linked')
    t.equal(job?.data.customer, 'cus_1')
    await releaseUnlinked(systemDb, queue, provider, 'cus_1')
    t.match(await select(waiting), [{ status: 'recorded', customer: null }, {}])
    const first = await queue.fetch<{ eventId: string }>(eventQueue, { batchSize: 5 })
    t.strictSame(
      first.map(({ data }) => data.eventId).toSorted(),
      events.map((body) => JSON.parse(body).id),
    )
    for (const { data } of first) await applyEvent(db, data.eventId, now, { provider })
    t.match(await select('SELECT plan, subscription_status FROM users'), [
      { plan: 'pro', subscription_status: 'past_due' },
    ])
  },
)

t.test('the plan follows a customer that is linked to another user', async (t) => {
  const { database, systemDb, apply } = await open(t)
  const queue = await startQueue(t, database, 'worker')
  const before = await createUser(database, { billingCustomer: 'cus_1' })
  const after = await createUser(database)
  await apply(subscription({ status: 'active' }, 10))
  await systemDb.transaction({ statementTimeoutMs: 5_000 }, (connection) =>
    linkCustomer(connection, queue, null, 'cus_1', { userId: after.userId }, noClientInfo),
  )
  t.equal(await planOf(database, before.userId), null)
  t.equal(await planOf(database, after.userId), 'pro')
})

t.test('a checkout of this program links its customer, but takes it from nobody', async (t) => {
  const linked: string[] = []
  const { database, apply, select } = await open(t, {
    async onLinked(_tx, customer) {
      linked.push(customer)
    },
  })
  const ada = await createUser(database)
  const bob = await createUser(database)
  const completed = (id: string, userId: number, customer = 'cus_1') =>
    stripeEvent(
      id,
      'checkout.session.completed',
      stripeSession({
        customer,
        metadata: { gatehouse_user: String(userId), gatehouse_origin: baseUrl },
      }),
    )
  const holders = () => select('SELECT id, billing_customer FROM users ORDER BY id')
  t.equal(await apply(completed('one', ada.userId)), 'processed')
  t.match(await holders(), [{ billing_customer: 'cus_1' }, { billing_customer: null }])
  t.equal(await apply(completed('two', bob.userId)), 'processed')
  t.match(await holders(), [{ billing_customer: 'cus_1' }, { billing_customer: null }])
  t.equal(await apply(completed('three', ada.userId, 'cus_2')), 'processed', 'has another')
  t.equal(await apply(completed('four', 999_999, 'cus_3')), 'processed', 'no such user')
  t.match(await holders(), [{ billing_customer: 'cus_1' }, { billing_customer: null }])
  t.strictSame(linked, ['cus_1'])
  const chosen = stripeSession({ customer: 'cus_9', client_reference_id: String(bob.userId) })
  t.equal(await apply(stripeEvent('five', 'checkout.session.completed', chosen)), 'processed')
  t.match(await holders(), [{ billing_customer: 'cus_1' }, { billing_customer: null }])
})

t.test('a customer that this program created is found by its metadata', async (t) => {
  const asked: string[] = []
  const { database, apply } = await open(t, {
    api: {
      findSubscription: async () => 'unknown',
      async findHolder(customer) {
        asked.push(customer)
        return customer === 'cus_1' ? { userId } : null
      },
    },
  })
  const { userId } = await createUser(database)
  t.equal(await apply(subscription({ status: 'active' }, 10)), 'processed')
  t.equal(await planOf(database, userId), 'pro')
  const stranger = subscription({ id: 'sub_x', customer: 'cus_x', status: 'active' }, 10)
  t.equal(await apply(stranger), 'unlinked')
  t.strictSame(asked, ['cus_1', 'cus_x'])
})

t.test('what a schedule plans is shown as the change that comes next', async (t) => {
  let schedule: object | string = stripeSchedule()
  const { database, apply, select } = await open(t, {
    plans,
    api: {
      async findSubscription(id) {
        return id === 'sub_1' ? { ...stripeSubscription({ schedule }) } : 'unknown'
      },
    },
  })
  const { userId } = await createUser(database, { billingCustomer: 'cus_1' })
  const shown = async () => (await select('SELECT details FROM billing_objects'))[0]?.details
  const at = '2026-12-18T11:06:40.000Z'
  const last = { phases: [{ start_date: 1_795_000_000, end_date: 1_797_592_000 }] }
  const cases: [string, object | string, object | null][] = [
    ['created', stripeSchedule(), { kind: 'change', at }],
    ['updated', stripeSchedule({ ...last, end_behavior: 'cancel' }), { kind: 'cancel', at }],
    ['updated', stripeSchedule(last), null],
    ['updated', 'sub_sched_1', null],
    ['updated', stripeSchedule({ phases: 'none', current_phase: null }), null],
    ['released', stripeSchedule({ status: 'released' }), null],
  ]
  for (const [index, [what, present, expected]] of cases.entries()) {
    schedule = present
    const of = what === 'released' ? { subscription: null, released_subscription: 'sub_1' } : {}
    const type = `subscription_schedule.${what}`
    const event = stripeEvent(`evt_s${index}`, type, stripeSchedule(of), { created: 10 + index })
    t.equal(await apply(event), 'processed')
    t.strictSame((await shown()).scheduledChange, expected, `${index}`)
    t.equal(await planOf(database, userId), 'pro')
  }
  const early = stripeSchedule({ subscription: null, status: 'not_started' })
  const begun = stripeEvent('evt_s9', 'subscription_schedule.created', early, { created: 99 })
  t.equal(await apply(begun), 'processed', 'it has no subscription yet')
})

t.test('a schedule says nothing without the API', async (t) => {
  const { database, apply, select } = await open(t, { plans })
  await createUser(database, { billingCustomer: 'cus_1' })
  t.equal(
    await apply(stripeEvent('a', 'subscription_schedule.updated', stripeSchedule())),
    'processed',
  )
  t.strictSame(await select('SELECT FROM billing_objects'), [])
})

t.test('a customer that is linked already is not linked again', async (t) => {
  const linked: string[] = []
  const { database, apply, select } = await open(t, {
    api: { findSubscription: async () => 'unknown', findHolder: async () => ({ userId }) },
    async onLinked(_tx, customer) {
      linked.push(customer)
    },
  })
  const { userId } = await createUser(database, { billingCustomer: 'cus_1' })
  const metadata = { gatehouse_user: String(userId), gatehouse_origin: baseUrl }
  const completed = stripeEvent('one', 'checkout.session.completed', stripeSession({ metadata }))
  t.equal(await apply(completed), 'processed')
  // The user has deleted the tenant that gets the invoices. To link the customer again would release
  // the event, which would wait again, and so on.
  await select('UPDATE users SET own_tenant_id = NULL')
  t.equal(await apply(subscription({ status: 'active' }, 10)), 'unlinked')
  t.strictSame(linked, [])
  t.strictSame(await select('SELECT target FROM audit_log'), [])
})

t.test('a customer of a former provider gives way, unless its plan runs', async (t) => {
  const past = '2020-01-01T00:00:00Z'
  for (const [plan, cancelsAt, outcome, holds] of [
    [null, null, 'processed', 'cus_1'],
    ['pro', past, 'processed', 'cus_1'],
    ['pro', null, 'unlinked', 'ctm_1'],
    ['pro', '2036-01-01T00:00:00Z', 'unlinked', 'ctm_1'],
  ] as const) {
    const { database, apply, select } = await open(t, {
      api: { findSubscription: async () => 'unknown', findHolder: async () => ({ userId }) },
    })
    const { userId } = await createUser(database, { billingCustomer: 'ctm_1' })
    await database.admin.query(
      'UPDATE users SET plan = $2, subscription_cancels_at = $3 WHERE id = $1',
      [userId, plan, cancelsAt],
    )
    t.equal(await apply(subscription({ status: 'active' }, 10)), outcome, `${plan} ${cancelsAt}`)
    t.strictSame(await select('SELECT plan, billing_customer FROM users'), [
      { plan: outcome === 'processed' ? 'pro' : plan, billing_customer: holds },
    ])
    t.strictSame(
      (await select('SELECT reason, target FROM audit_log ORDER BY reason')).map(Object.values),
      outcome === 'processed'
        ? [
            ['linked', `cus_1 user ${userId}`],
            ['unlinked', `ctm_1 user ${userId}`],
          ]
        : [],
    )
  }
})

t.test('the object of a thin event is fetched; without an API the event is poison', async (t) => {
  const related = { id: 'sub_1', type: 'subscription', url: '/v1/subscriptions/sub_1' }
  const body = stripeThin('v1.customer.subscription.updated', related)
  const { database, apply } = await open(t, {
    api: {
      findSubscription: async () => 'unknown',
      findRelated: async (path) =>
        path === 'subscriptions/sub_1' ? stripeSubscription() : 'unknown',
    },
  })
  const { userId } = await createUser(database, { billingCustomer: 'cus_1' })
  t.equal(await apply(body), 'processed')
  t.equal(await planOf(database, userId), 'pro')
  const without = await open(t)
  await t.rejects(without.apply(body), { name: 'PoisonEvent', message: /BILLING_API_KEY/ })
})

t.test('the end of a subscription counts in the specification’s own format too', async (t) => {
  const { database, apply } = await open(t, { provider: signed })
  const { userId } = await createUser(database, { billingCustomer: 'cus_1' })
  const event = (id: string, status: string, created: number) =>
    JSON.stringify({
      id,
      type: 'subscription.updated',
      created,
      data: { object: { id: 'sub_1', customer: 'cus_1', status } },
    })
  await apply(event('a', 'active', 1))
  t.equal(await planOf(database, userId), 'pro')
  await apply(event('b', 'unpaid', 2))
  t.equal(await planOf(database, userId), null)
})

t.test('a failed refund does not count, whatever its charge reports later', async (t) => {
  const charge = (id: string, type: string, created: number, amount_refunded: number) =>
    stripeEvent(id, type, stripeCharge({ amount_refunded }), { created })
  const events = [
    charge('c', 'charge.succeeded', 10, 0),
    charge('r1', 'charge.refunded', 20, 4_900),
    stripeEvent('f', 'refund.failed', stripeRefund({ status: 'failed' }), { created: 30 }),
    charge('r2', 'charge.refunded', 40, 4_900), // still with the failed one
  ]
  for (const order of [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [2, 0, 3, 1],
  ]) {
    const asked: string[] = []
    const { database, apply, select } = await open(t, {
      api: {
        findSubscription: async () => 'unknown',
        async findRefunded(payment) {
          asked.push(payment)
          return 1_500
        },
      },
    })
    await createUser(database, { billingCustomer: 'cus_1' })
    for (const index of order) t.equal(await apply(events[index] ?? ''), 'processed')
    const state = await select('SELECT amount_refunded, status FROM invoices')
    t.strictSame(state, [{ amount_refunded: '1500', status: 'paid' }], order.join())
    t.strictSame(asked, ['pi_1', 'pi_1', 'pi_1'], 'not for what refunds nothing')
  }
})

t.test(
  'a person who pays with a second customer is counted, and an operator sees why',
  async (t) => {
    const api = {
      findSubscription: async () => 'unknown' as const,
      findHolder: async () => ({ userId }),
    }
    const { database, db, systemDb, apply, select, provider } = await open(t, { api })
    const { userId } = await createUser(database, { billingCustomer: 'cus_0' })
    const second = stripeEvent('a', 'charge.succeeded', stripeCharge())
    t.equal(await paidTwice(systemDb, 'customer'), 0)
    t.equal(await apply(second), 'unlinked')
    t.strictSame(await select('SELECT status, outcome, last_error FROM received_events'), [
      {
        status: 'unlinked',
        outcome: 'second-customer',
        last_error: `this customer is of user ${userId}, who has another customer`,
      },
    ])
    t.equal(await paidTwice(systemDb, 'customer'), 1)
    await select('UPDATE users SET billing_customer = NULL')
    t.equal(await applyEvent(db, 'a', now, { provider, api }), 'processed')
    t.equal(await paidTwice(systemDb, 'customer'), 0)
    t.strictSame(await select('SELECT outcome, last_error FROM received_events'), [
      { outcome: 'processed', last_error: null },
    ])
  },
)

t.test(
  'a customer with two subscriptions that give a plan is counted until one ends',
  async (t) => {
    const { database, systemDb, apply } = await open(t)
    await createUser(database, { billingCustomer: 'cus_1' })
    const steps: [id: string, change: object, counted: number][] = [
      ['sub_a', { status: 'active' }, 0],
      ['sub_b', { status: 'incomplete' }, 0],
      ['sub_b', { status: 'active' }, 1],
      ['sub_a', { status: 'past_due' }, 1],
      ['sub_a', { status: 'active', cancel_at: 1_000 }, 0],
      ['sub_a', { status: 'active' }, 1],
      ['sub_b', { status: 'canceled' }, 0],
      ['sub_a', { status: 'canceled' }, 0],
    ]
    for (const [index, [id, change, counted]] of steps.entries()) {
      t.equal(await apply(subscription({ id, ...change }, 10 + index)), 'processed')
      t.equal(await paidTwice(systemDb, 'subscription'), counted, `${index}`)
    }
  },
)
