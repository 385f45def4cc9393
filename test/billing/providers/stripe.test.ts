import { Stripe } from 'stripe'
import t from 'tap'
import { PoisonEvent } from '#src/billing/effect.ts'
import { lanes, newEventJob } from '#src/billing/job.ts'
import { stripe } from '#src/billing/providers/stripe.ts'
import {
  stripeCharge,
  stripeDispute,
  stripeEvent,
  stripeInvoice,
  stripePayments,
  stripeRefund,
  stripeSession,
  stripeSubscription,
  stripeThin,
} from './bodies.ts'

const secret = 'whsec_test_secret'
const now = 1_795_000_000
const baseUrl = 'https://app.example.com'
const provider = stripe({ production: true, baseUrl })
const text = stripeEvent('evt_1', 'charge.succeeded', stripeCharge())
const bytes = Buffer.from(text)
const header = Stripe.webhooks.generateTestHeaderString({ payload: text, secret, timestamp: now })
const verify = (headers: Record<string, string>, secrets = [secret]) =>
  provider.verify(headers, bytes, secrets, now)

t.test('what the official package signs is verified, and it parses the same event', async (t) => {
  t.strictSame(verify({ 'stripe-signature': header }), { ok: true, timestamp: now, secretIndex: 0 })
  const official = Stripe.webhooks.constructEvent(text, header, secret, 300, undefined, now * 1_000)
  const own = provider.parse({}, bytes)
  t.match(own, { id: official.id, type: official.type, created: official.created })
  t.strictSame(own?.object, official.data.object)
})

t.test('one of several secrets and one of several signatures is enough', async (t) => {
  const [, hex = ''] = /v1=(\w+)/.exec(header) ?? []
  const several = `t=${now},v1=${'0'.repeat(64)},v1=${hex},v0=${'1'.repeat(64)}`
  t.match(verify({ 'stripe-signature': several }), { ok: true })
  t.match(verify({ 'stripe-signature': header }, ['whsec_new_secret', secret]), { secretIndex: 1 })
})

t.test('another header, secret, body or time is refused', async (t) => {
  const bad = { ok: false, fault: 'bad signature' }
  t.strictSame(verify({}), bad)
  t.strictSame(verify({ 'webhook-signature': header }), bad, 'the header of another provider')
  t.strictSame(verify({ 'stripe-signature': header }, ['whsec_new_secret']), bad)
  t.strictSame(verify({ 'stripe-signature': `${header}, ${header}` }), bad, 'the header twice')
  const v0 = header.replace('v1=', 'v0=')
  t.strictSame(verify({ 'stripe-signature': v0, 'webhook-signature': header }), bad)
  const other = Buffer.from(` ${text}`)
  t.strictSame(provider.verify({ 'stripe-signature': header }, other, [secret], now), bad)
  for (const [later, fault] of [
    [300, undefined],
    [301, 'timestamp outside tolerance'],
    [-301, 'timestamp outside tolerance'],
  ] as const) {
    const verdict = provider.verify({ 'stripe-signature': header }, bytes, [secret], now + later)
    t.equal('fault' in verdict ? verdict.fault : undefined, fault, String(later))
  }
})

function read(text: string) {
  const event = provider.parse({}, Buffer.from(text))
  if (event === null) throw new Error('no event')
  return event
}

function effect(type: string, object: Record<string, unknown>, more: Record<string, unknown> = {}) {
  const event = read(stripeEvent('evt_1', type, object, more))
  return provider.effectOf(event, event.object)
}

t.test('each kind has its effect', async (t) => {
  const payment = {
    kind: 'payment',
    customer: 'cus_1',
    payment: 'pi_1',
    amount: 4_900,
    currency: 'eur',
    digits: 2,
    refunded: 0,
  }
  t.strictSame(effect('charge.succeeded', stripeCharge()), payment)
  t.match(effect('charge.succeeded', stripeCharge({ customer: { id: 'cus_1' } })), payment)
  t.match(effect('charge.succeeded', stripeCharge({ payment_intent: null })), { payment: 'ch_1' })
  const refunded = stripeCharge({ amount_refunded: 1_000 })
  t.strictSame(effect('charge.refunded', refunded), { ...payment, refunded: 1_000 })
  t.strictSame(effect('invoice.paid', stripeInvoice()), { kind: 'none' }, 'its charge counts')
  const invoiced = effect('invoice.paid', stripeInvoice({ payments: stripePayments }))
  t.strictSame(invoiced, { ...payment, refunded: null })
  const [paid] = stripePayments.data
  const payments = (data: object[]) => stripeInvoice({ payments: { ...stripePayments, data } })
  const canceled = { ...paid, payment: { payment_intent: 'pi_0' }, status: 'canceled' }
  t.match(effect('invoice.paid', payments([canceled, { ...paid }])), { payment: 'pi_1' })
  const second = { ...paid, payment: { payment_intent: 'pi_2' } }
  t.strictSame(effect('invoice.paid', payments([{ ...paid }, second])), { kind: 'none' })
  const authorized = stripeCharge({ captured: false, amount_captured: 0 })
  t.strictSame(effect('charge.succeeded', authorized), { kind: 'none' }, 'not paid yet')
  t.strictSame(effect('charge.captured', stripeCharge()), payment)
  for (const [version, released] of [
    ['2026-10-28.endive', 0],
    ['2025-03-31.basil', 0],
    ['2025-02-24.acacia', 1_900],
    ['2020-08-27', 1_900],
  ] as const) {
    const part = (refunded: number) =>
      stripeCharge({ amount_captured: 3_000, amount_refunded: released + refunded })
    const of = { api_version: version }
    const captured = { ...payment, amount: 3_000 }
    t.strictSame(effect('charge.captured', part(0), of), captured, version)
    const returned = { ...captured, refunded: 1_000 }
    t.strictSame(effect('charge.refunded', part(1_000), of), returned, version)
  }
  for (const status of ['succeeded', 'pending', 'requires_action']) {
    t.strictSame(effect('refund.updated', stripeRefund({ status })), { kind: 'none' }, status)
  }
  for (const status of ['failed', 'canceled']) {
    t.strictSame(effect('refund.failed', stripeRefund({ status })), {
      kind: 'refund',
      customer: null,
      payment: 'pi_1',
      refund: 're_1',
      amount: 4_900,
      isFailed: true,
      remaining: null,
    })
  }
  t.strictSame(effect('invoice.paid', stripeInvoice({ amount_paid: 0 })), { kind: 'none' })
  const dispute = {
    kind: 'dispute',
    customer: null,
    payment: 'pi_1',
    dispute: 'dp_1',
    state: 'open',
  }
  t.strictSame(effect('charge.dispute.created', stripeDispute()), dispute)
  for (const [status, state] of [
    ['warning_needs_response', 'closed'],
    ['warning_under_review', 'closed'],
    ['warning_closed', 'closed'],
    ['prevented', 'closed'],
    ['under_review', 'open'],
    ['appeal_under_review', 'open'],
    ['won', 'closed'],
    ['lost', 'lost'],
  ] as const) {
    t.match(effect('charge.dispute.updated', stripeDispute({ status })), { state }, status)
  }
  const end = 1_797_592_000
  const state = { status: 'active', prices: ['price_pro'], periodEnd: end, cancelsAt: null }
  const subscription = { kind: 'subscription', customer: 'cus_1', state }
  for (const verb of ['created', 'updated', 'deleted', 'paused', 'resumed']) {
    t.match(effect(`customer.subscription.${verb}`, stripeSubscription()), subscription, verb)
  }
  for (const [change, cancelsAt] of [
    [{ cancel_at_period_end: true }, end],
    [{ cancel_at: 1_796_000_000 }, 1_796_000_000],
  ] as const) {
    t.match(effect('customer.subscription.updated', stripeSubscription(change)), {
      state: { cancelsAt },
    })
  }
  const old = stripeSubscription({ items: { data: [] }, current_period_end: 5 })
  t.match(effect('customer.subscription.updated', old), { state: { periodEnd: 5, prices: [] } })
})

t.test('a checkout links its customer only if this installation has started it', async (t) => {
  const metadata = { gatehouse_user: '7', gatehouse_origin: baseUrl }
  const linked = { kind: 'checkout', customer: 'cus_1', holder: { userId: 7 } }
  t.strictSame(effect('checkout.session.completed', stripeSession({ metadata })), linked)
  for (const other of [
    { client_reference_id: '7' },
    { metadata: { gatehouse_user: '7' } },
    { metadata: { ...metadata, gatehouse_origin: 'https://staging.example.com' } },
    { metadata: { ...metadata, gatehouse_user: '07' } },
    { metadata: { ...metadata, gatehouse_user: '99999999999999999999' } },
  ]) {
    const session = stripeSession(other)
    t.strictSame(effect('checkout.session.completed', session), { kind: 'none' })
  }
})

t.test('what does not concern this installation is ignored with its reason', async (t) => {
  const charge = stripeEvent('evt_1', 'charge.succeeded', stripeCharge(), { livemode: false })
  t.match(read(charge), { kind: 'payment', ignored: 'test-mode' })
  const lenient = stripe({ production: false, baseUrl })
  t.match(lenient.parse({}, Buffer.from(charge)), { ignored: null })
  const connected = stripeEvent('evt_1', 'charge.succeeded', stripeCharge(), { account: 'acct_1' })
  t.match(read(connected), { ignored: 'connected-account' })
  const guest = stripeEvent('evt_1', 'charge.succeeded', stripeCharge({ customer: null }))
  t.match(read(guest), { ignored: 'guest' })
  const unnamed = stripeEvent('evt_1', 'charge.succeeded', stripeCharge({ customer: undefined }))
  t.match(read(unnamed), { ignored: 'guest' }, 'without the member')
  t.match(read(stripeEvent('evt_1', 'charge.dispute.created', stripeDispute())), { ignored: null })
  t.match(read(stripeEvent('evt_1', 'charge.failed', stripeCharge())), { ignored: 'kind' })
  t.equal(provider.parse({}, Buffer.from('{"id":"evt_1"}')), null)
})

t.test('a thin event names the object that has to be fetched', async (t) => {
  const related = { id: 'sub_1', type: 'subscription', url: '/v1/subscriptions/sub_1' }
  t.match(read(stripeThin('v1.customer.subscription.updated', related)), {
    id: 'evt_thin',
    created: Date.parse('2026-11-18T10:26:40Z') / 1_000,
    kind: 'subscription',
    objectId: 'sub_1',
    isState: true,
    related: 'subscriptions/sub_1',
    ignored: null,
  })
  for (const url of [
    '/v1/accounts/sub_1',
    '/v1/subscriptions/../charges',
    'https://x/v1/charges/c',
  ]) {
    t.equal(read(stripeThin('v1.customer.subscription.updated', { ...related, url })).related, null)
  }
  const context = { context: 'acct_1' }
  const foreign = stripeThin('v1.customer.subscription.updated', related, context)
  t.match(read(foreign), { ignored: 'connected-account' })
})

t.test('what may wait for the API does not take the slots of charges', async (t) => {
  const [soonDone, mayWait] = lanes
  const related = { id: 'ch_1', type: 'charge', url: '/v1/charges/ch_1' }
  for (const [text, priority] of [
    [stripeEvent('e', 'charge.succeeded', stripeCharge()), soonDone.minPriority],
    [stripeEvent('e', 'charge.dispute.created', stripeDispute()), soonDone.minPriority],
    [stripeEvent('e', 'customer.subscription.updated', stripeSubscription()), mayWait.maxPriority],
    [stripeEvent('e', 'invoice.paid', stripeInvoice()), mayWait.maxPriority],
    [stripeThin('v1.charge.succeeded', related), mayWait.maxPriority],
  ] as const) {
    t.equal(newEventJob('e', read(text)).priority, priority, text)
  }
})

t.test('a field that is missing or cannot be right is poison', async (t) => {
  const cases: [string, Record<string, unknown>][] = [
    ['charge.succeeded', stripeCharge({ amount: 2 ** 53 })],
    ['charge.succeeded', stripeCharge({ amount: 49.5 })],
    ['charge.succeeded', stripeCharge({ currency: 'euro' })],
    ['charge.succeeded', stripeCharge({ customer: 7 })],
    ['charge.refunded', stripeCharge({ amount_refunded: '1' })],
    ['charge.dispute.created', stripeDispute({ payment_intent: null, charge: null })],
  ]
  for (const [type, object] of cases) {
    t.throws(() => effect(type, object), PoisonEvent, JSON.stringify(object))
  }
})
