import { readFile } from 'node:fs/promises'
import t from 'tap'
import type { Effect } from '#src/billing/effect.ts'
import { planOf } from '#src/billing/plan.ts'
import { paddle, paddleKinds } from '#src/billing/providers/paddle.ts'
import type { BillingProvider } from '#src/billing/providers/provider.ts'
import { standard, standardKinds } from '#src/billing/providers/standard.ts'
import { stripe, stripeKinds } from '#src/billing/providers/stripe.ts'
import {
  paddleAdjustment,
  paddleEvent,
  paddleSubscription,
  paddleTransaction,
  standardEvent,
  stripeCharge,
  stripeDispute,
  stripeEvent,
  stripeInvoice,
  stripePayments,
  stripeRefund,
  stripeSchedule,
  stripeSession,
  stripeSubscription,
} from '../billing/providers/bodies.ts'

/** An event, what its object says, and the object. */
type Sample = readonly [type: string, says: string, object: Record<string, unknown>]

type Part = {
  readonly provider: BillingProvider
  readonly kinds: object
  readonly bodyOf: (type: string, object: Record<string, unknown>) => string
  readonly samples: readonly Sample[]
}

const baseUrl = 'https://app.example.com'
const mark = { metadata: { gatehouse_user: '7', gatehouse_origin: baseUrl } }
const statuses = [
  'active',
  'trialing',
  'past_due',
  'unpaid',
  'paused',
  'canceled',
  'incomplete',
  'incomplete_expired',
]

const ofStripe: Sample[] = [
  ['charge.succeeded', 'captured', stripeCharge()],
  ['charge.succeeded', 'only authorized', stripeCharge({ captured: false })],
  ['charge.succeeded', 'a guest', stripeCharge({ customer: null })],
  ['charge.captured', '', stripeCharge()],
  ['charge.refunded', 'in part', stripeCharge({ amount_refunded: 900 })],
  ['charge.refunded', 'all of it', stripeCharge({ amount_refunded: 4_900 })],
  ['refund.updated', 'succeeded', stripeRefund()],
  ['refund.updated', 'failed', stripeRefund({ status: 'failed' })],
  ['refund.failed', '', stripeRefund({ status: 'failed' })],
  ['charge.dispute.created', 'an inquiry', stripeDispute({ status: 'warning_needs_response' })],
  ['charge.dispute.created', 'a dispute', stripeDispute()],
  ['charge.dispute.updated', 'under review', stripeDispute({ status: 'under_review' })],
  ['charge.dispute.funds_withdrawn', '', stripeDispute()],
  ['charge.dispute.closed', 'won', stripeDispute({ status: 'won' })],
  ['charge.dispute.closed', 'lost', stripeDispute({ status: 'lost' })],
  ['invoice.paid', 'by a charge', stripeInvoice({ payments: stripePayments })],
  ['invoice.paid', 'from a credit', stripeInvoice({ amount_paid: 0 })],
  ['checkout.session.completed', 'started here', stripeSession(mark)],
  ['checkout.session.completed', 'a payment link', stripeSession()],
  ...statuses.map(
    (status): Sample => ['customer.subscription.updated', status, stripeSubscription({ status })],
  ),
  ['customer.subscription.created', 'active', stripeSubscription()],
  [
    'customer.subscription.updated',
    'active, `cancel_at_period_end`',
    stripeSubscription({ cancel_at_period_end: true }),
  ],
  [
    'customer.subscription.updated',
    'active, `pause_collection`',
    stripeSubscription({ pause_collection: { behavior: 'void', resumes_at: null } }),
  ],
  ['customer.subscription.paused', 'paused', stripeSubscription({ status: 'paused' })],
  ['customer.subscription.resumed', 'active', stripeSubscription()],
  ['customer.subscription.deleted', 'canceled', stripeSubscription({ status: 'canceled' })],
  ...['created', 'updated', 'released', 'canceled'].map(
    (what): Sample => [`subscription_schedule.${what}`, '', stripeSchedule()],
  ),
]

const noTotal = { details: { totals: { grand_total: '0' } } }
const cancel = { scheduled_change: { action: 'cancel', effective_at: '2026-12-18T10:26:40Z' } }
const ofPaddle: Sample[] = [
  ['transaction.completed', '', paddleTransaction()],
  ['transaction.completed', 'of nothing', paddleTransaction(noTotal)],
  [
    'adjustment.created',
    'refund, not approved yet',
    paddleAdjustment({ status: 'pending_approval' }),
  ],
  ['adjustment.updated', 'refund, approved', paddleAdjustment()],
  ['adjustment.updated', 'refund, reversed', paddleAdjustment({ status: 'reversed' })],
  ['adjustment.created', 'credit', paddleAdjustment({ action: 'credit' })],
  ['adjustment.created', 'chargeback_warning', paddleAdjustment({ action: 'chargeback_warning' })],
  ['adjustment.created', 'chargeback', paddleAdjustment({ action: 'chargeback' })],
  ['adjustment.created', 'chargeback_reverse', paddleAdjustment({ action: 'chargeback_reverse' })],
  ['subscription.created', 'active', paddleSubscription()],
  ['subscription.activated', 'active', paddleSubscription()],
  ['subscription.trialing', 'trialing', paddleSubscription({ status: 'trialing' })],
  ['subscription.past_due', 'past_due', paddleSubscription({ status: 'past_due' })],
  ['subscription.paused', 'paused', paddleSubscription({ status: 'paused' })],
  ['subscription.resumed', 'active', paddleSubscription()],
  ['subscription.updated', 'active, a cancellation is scheduled', paddleSubscription(cancel)],
  ['subscription.canceled', 'canceled', paddleSubscription({ status: 'canceled' })],
]

const order = { id: 'ord_1', customer_id: 'cus_1', currency: 'eur', total_amount: 4_900 }
const refund = { id: 're_1', order_id: 'ord_1', customer_id: 'cus_1', amount: 840, tax_amount: 160 }
const bought = { id: 'sub_1', customer_id: 'cus_1', product_id: 'prod_1', status: 'active' }
const ending = { cancel_at_period_end: true, current_period_end: '2026-12-18T10:26:40Z' }
const ofPolar: Sample[] = [
  ['order.paid', '', order],
  ['order.paid', 'of nothing', { ...order, total_amount: 0 }],
  ['order.refunded', 'in part', { ...order, refunded_amount: 840, refunded_tax_amount: 160 }],
  ['order.refunded', 'all of it', { ...order, refunded_amount: 4_118, refunded_tax_amount: 782 }],
  ['refund.updated', 'succeeded', { ...refund, status: 'succeeded' }],
  ['refund.updated', 'failed', { ...refund, status: 'failed' }],
  ['subscription.created', 'active', bought],
  ['subscription.active', 'active', bought],
  ['subscription.updated', 'trialing', { ...bought, status: 'trialing' }],
  ['subscription.past_due', 'past_due', { ...bought, status: 'past_due' }],
  ['subscription.canceled', 'active, at the end of the period', { ...bought, ...ending }],
  ['subscription.uncanceled', 'active', bought],
  ['subscription.revoked', 'canceled', { ...bought, status: 'canceled' }],
]

const parts: Readonly<Record<string, Part>> = {
  '`stripe`': {
    provider: stripe({ production: true, baseUrl }),
    kinds: stripeKinds,
    bodyOf: (type, object) => stripeEvent('evt_1', type, object),
    samples: ofStripe,
  },
  '`paddle`': {
    provider: paddle,
    kinds: paddleKinds,
    bodyOf: (type, object) => paddleEvent('evt_1', type, object),
    samples: ofPaddle,
  },
  '`standard`': {
    provider: standard,
    kinds: standardKinds,
    bodyOf: standardEvent,
    samples: ofPolar,
  },
}

function wordsOf(effect: Effect): string {
  switch (effect.kind) {
    case 'payment': {
      const { amount, refunded } = effect
      if (!refunded) return 'invoice `paid`'
      return refunded < amount ? 'invoice `paid`, refunded in part' : 'invoice `refunded`'
    }
    case 'refund':
      return effect.isFailed || effect.amount === 0
        ? 'the refund is taken back'
        : 'refunded by so much'
    case 'dispute':
      return { open: 'invoice `disputed`', lost: 'invoice `lost`', closed: 'invoice as before' }[
        effect.state
      ]
    case 'subscription': {
      if (planOf(effect.state, null) === null) return 'no plan'
      return effect.state.cancelsAt === null ? 'the plan' : 'the plan, until its end'
    }
    case 'checkout':
      return 'the customer is linked'
    case 'none':
      return 'nothing'
  }
}

function resultOf({ provider, bodyOf }: Part, [type, , object]: Sample): string {
  const event = provider.parse({ 'webhook-id': 'msg_1' }, Buffer.from(bodyOf(type, object)))
  if (event === null) throw new Error(`${type} is no event`)
  if (event.ignored !== null) return `ignored: \`${event.ignored}\``
  if (type.startsWith('subscription_schedule.')) {
    const present = stripeSubscription({ schedule: object })
    const effect = provider.effectOf(event, event.objectId === present.id ? present : event.object)
    const isShown = effect.kind === 'subscription' && effect.details?.scheduledChange
    return `${wordsOf(effect)}; the planned change is ${isShown ? 'shown' : 'not shown'}`
  }
  return wordsOf(provider.effectOf(event, event.object))
}

t.test('the table says what each event of each provider does', async (t) => {
  const rows = Object.entries(parts).flatMap(([name, part]) => {
    const types = new Set(part.samples.map(([type]) => type))
    t.strictSame(types, new Set(Object.keys(part.kinds)), `${name}: every type is in the table`)
    return part.samples.map((sample) => {
      const [type, says] = sample
      return `| ${name} | \`${type}\` | ${says} | ${resultOf(part, sample)} |`
    })
  })
  const table = ['| Provider | Event | It says | Result |', '|---|---|---|---|', ...rows].join('\n')
  const page = await readFile(new URL('../../docs/billing-events.md', import.meta.url), 'utf8')
  const [, after = ''] = page.split('### What each event does\n\n')
  const [, shown] = /^[^|]*(\|(?:.|\n)*?\|)\n\n/.exec(after) ?? []
  t.equal(shown, table)
})
