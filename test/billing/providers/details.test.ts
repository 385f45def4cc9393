import t from 'tap'
import { paddle } from '#src/billing/providers/paddle.ts'
import type { BillingProvider } from '#src/billing/providers/provider.ts'
import { signed } from '#src/billing/providers/signed.ts'
import { standard } from '#src/billing/providers/standard.ts'
import { stripe } from '#src/billing/providers/stripe.ts'
import {
  paddleEvent,
  paddleSubscription,
  standardEvent,
  stripeEvent,
  stripeSubscription,
} from './bodies.ts'

function subscriptionIn(provider: BillingProvider, body: string) {
  const event = provider.parse({ 'webhook-id': 'msg_1' }, Buffer.from(body))
  if (event === null) throw new Error('no event')
  const effect = provider.effectOf(event, event.object)
  if (effect.kind !== 'subscription') throw new Error('no subscription')
  return effect
}

const detailsIn = (...given: Parameters<typeof subscriptionIn>) => subscriptionIn(...given).details

const ofStripe = (change: object, version = '2026-10-28.endive') =>
  detailsIn(
    stripe({ production: true, baseUrl: 'https://app.example.com' }),
    stripeEvent('evt_1', 'customer.subscription.updated', stripeSubscription({ ...change }), {
      api_version: version,
    }),
  )
const monthly = { interval: 'month', interval_count: 1 }
const price = { id: 'price_pro', currency: 'eur', unit_amount: 4_900, recurring: monthly }
const nothing = { trialEndsAt: null, paymentsPaused: null, scheduledChange: null }
const trialEndsAt = '2026-12-18T10:26:40.000Z'
const trialEnd = Date.parse(trialEndsAt) / 1_000

t.test(
  'Stripe: the items, the trial, a pause of payments and an end, in two versions',
  async (t) => {
    const items = (...all: object[]) => ({ items: { object: 'list', data: all } })
    const two = items(
      { price, quantity: 3 },
      { price: { ...price, id: 'price_seat', unit_amount: null } },
    )
    for (const version of ['2026-10-28.endive', '2022-11-15']) {
      t.strictSame(ofStripe(two, version), {
        currency: 'eur',
        digits: 2,
        items: [
          { price: 'price_pro', quantity: 3, amount: 4_900, interval: 'month', intervalCount: 1 },
          {
            price: 'price_seat',
            quantity: null,
            amount: null,
            interval: 'month',
            intervalCount: 1,
          },
        ],
        ...nothing,
      })
      t.match(ofStripe({ trial_end: trialEnd }, version), { trialEndsAt })
      for (const [resumes_at, until] of [
        [trialEnd, trialEndsAt],
        [null, null],
      ]) {
        const pause_collection = { behavior: 'void', resumes_at }
        t.match(ofStripe({ pause_collection }, version), { paymentsPaused: { until } })
      }
      const scheduledChange = { kind: 'cancel', at: trialEndsAt }
      t.match(ofStripe({ cancel_at: trialEnd }, version), { scheduledChange })
    }
    t.match(ofStripe({ currency: 'jpy', ...items({ price }) }), {
      digits: 0,
      items: [{ amount: null }],
    })
  },
)

t.test('Paddle: the items, the trial and a scheduled change', async (t) => {
  const of = (change: object) =>
    detailsIn(
      paddle,
      paddleEvent('evt_1', 'subscription.updated', paddleSubscription({ ...change })),
    )
  const unit_price = { amount: '4900', currency_code: 'EUR' }
  const billing_cycle = { interval: 'year', frequency: 1 }
  const item = { price: { id: 'pri_pro', unit_price, billing_cycle }, quantity: 2 }
  t.strictSame(of({ items: [item] }), {
    currency: 'eur',
    digits: 2,
    items: [{ price: 'pri_pro', quantity: 2, amount: 4_900, interval: 'year', intervalCount: 1 }],
    ...nothing,
  })
  const elsewhere = of({ items: [item], currency_code: 'JPY' })
  t.match(elsewhere, { currency: 'jpy', digits: 0, items: [{ amount: null }] })
  t.match(of({ items: [{ ...item, trial_dates: { ends_at: trialEndsAt } }] }), { trialEndsAt })
  for (const action of ['cancel', 'pause', 'resume'] as const) {
    const scheduled_change = { action, effective_at: trialEndsAt, resume_at: null }
    t.match(of({ scheduled_change }), { scheduledChange: { kind: action, at: trialEndsAt } })
  }
})

t.test('Polar: the product, its seats and a change to come', async (t) => {
  const subscription = {
    ...{ id: 'sub_1', status: 'active', customer_id: 'cus_1', product_id: 'prod_1', seats: 5 },
    ...{ amount: 4_900, currency: 'usd', recurring_interval: 'month', recurring_interval_count: 3 },
  }
  const of = (change: object) =>
    detailsIn(standard, standardEvent('subscription.updated', { ...subscription, ...change }))
  t.strictSame(of({}), {
    currency: 'usd',
    digits: 2,
    items: [{ price: 'prod_1', quantity: 5, amount: 4_900, interval: 'month', intervalCount: 3 }],
    ...nothing,
  })
  t.match(of({ trial_end: trialEndsAt, ends_at: trialEndsAt }), {
    trialEndsAt,
    scheduledChange: { kind: 'cancel', at: trialEndsAt },
  })
  t.match(of({ pending_update: { applies_at: trialEndsAt } }), {
    scheduledChange: { kind: 'change', at: trialEndsAt },
  })
})

t.test('what cannot be read is null and no fault, because it decides nothing', async (t) => {
  const odd = {
    data: [{ price: { id: 7, unit_amount: 1.5, recurring: { interval: 'eon' } }, quantity: -1 }],
  }
  t.strictSame(
    ofStripe({ currency: 'x\u0000', items: odd, trial_end: 1e300, pause_collection: 7 }),
    {
      currency: null,
      digits: null,
      items: [{ price: null, quantity: null, amount: null, interval: null, intervalCount: null }],
      ...nothing,
    },
  )
  const object = { id: 'sub_1', customer: 'cus_1', status: 'active' }
  const body = { id: 'evt_1', type: 'subscription.updated', created: 1, data: { object } }
  t.equal(detailsIn(signed, JSON.stringify(body)), null)
})

t.test(
  'each provider has metadata beside a subscription, and what is no object is none',
  async (t) => {
    const metadata = { order: 'A-7' }
    const provider = stripe({ production: true, baseUrl: 'https://app.example.com' })
    for (const [one, body] of [
      [
        provider,
        (value: unknown) =>
          stripeEvent('evt_1', 'customer.subscription.updated', {
            ...stripeSubscription(),
            metadata: value,
          }),
      ],
      [
        paddle,
        (value: unknown) =>
          paddleEvent('evt_1', 'subscription.updated', {
            ...paddleSubscription(),
            custom_data: value,
          }),
      ],
      [
        standard,
        (value: unknown) =>
          standardEvent('subscription.updated', {
            ...{ id: 'sub_1', customer_id: 'cus_1', status: 'active', metadata: value },
          }),
      ],
    ] as const) {
      t.strictSame(subscriptionIn(one, body(metadata)).metadata, metadata, one.name)
      for (const value of [null, undefined, 'A-7', 7]) {
        t.strictSame(subscriptionIn(one, body(value)).metadata, {}, one.name)
      }
    }
  },
)
