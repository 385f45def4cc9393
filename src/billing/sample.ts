import type { BillingProviderName } from '#src/config/billing.ts'
import { hmacSha256 } from '#src/crypto/hash.ts'
import { keyOf } from './providers/standard.ts'
import { type SampleOptions, sampleMonthSeconds, samplePrice } from './sample-options.ts'
import { paddleNotification } from './sample-paddle.ts'
import { standardEvent } from './sample-standard.ts'
import {
  stripeCharge,
  stripeDispute,
  stripeEvent,
  stripeInvoice,
  stripeRefund,
  stripeSubscription,
} from './sample-stripe.ts'
import { signatureHeader } from './signature.ts'

/** The type of an event that says that a customer has paid. */
export const samplePayments: Readonly<Record<BillingProviderName, string>> = {
  signed: 'charge.succeeded',
  stripe: 'charge.succeeded',
  paddle: 'transaction.completed',
  standard: 'order.paid',
}

/** The body of an event, and the headers that sign it, as the billing provider sends them. */
export function signSample(
  provider: BillingProviderName,
  options: SampleOptions,
  secret: string,
): { body: string; headers: Record<string, string> } {
  const body = bodies[provider](options)
  return { body, headers: signedAs(provider, secret, body, options) }
}

const bodies: Readonly<Record<BillingProviderName, (options: SampleOptions) => string>> = {
  signed: sampleEvent,
  stripe: sampleOfStripe,
  paddle: (options) => JSON.stringify(paddleNotification(options)),
  standard: (options) => JSON.stringify(standardEvent(options)),
}

/**
 * The headers with which a provider signs a body.
 * @param event `id` counts for Standard Webhooks, which has it in a header; `created` is the time of the signature
 */
export function signedAs(
  provider: BillingProviderName,
  secret: string,
  body: string,
  { id, created }: Pick<SampleOptions, 'id' | 'created'>,
): Record<string, string> {
  if (provider === 'signed') return { 'webhook-signature': signatureHeader(secret, body, created) }
  if (provider === 'stripe') return { 'stripe-signature': signatureHeader(secret, body, created) }
  if (provider === 'paddle') {
    const digest = hmacSha256(secret, `${created}:${body}`).toString('hex')
    return { 'paddle-signature': `ts=${created};h1=${digest}` }
  }
  const digest = hmacSha256(keyOf(secret), `${id}.${created}.${body}`).toString('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': String(created),
    'webhook-signature': `v1,${digest}`,
  }
}

/** The body of an event, as the billing provider sends it (contract 5). */
export function sampleEvent(options: SampleOptions): string {
  const { id, type, created } = options
  return JSON.stringify({ id, type, created, data: { object: objectOf(options) } })
}

function objectOf({ id, type, customer, amount, currency, status }: SampleOptions): object {
  if (type.includes('subscription.')) return { id: `sub_${customer}_${status}`, customer, status }
  return { id: `ch_${id}`, customer, amount, currency }
}

function sampleOfStripe(options: SampleOptions): string {
  const { id, type, created } = options
  return JSON.stringify(stripeEvent({ id, type, created }, stripeObjectOf(options)))
}

/** Charges, refunds and disputes of one customer are about one payment, so that they meet. */
function stripeObjectOf({ type, customer, amount, currency, ...rest }: SampleOptions) {
  const money = { amount, currency }
  const name = `sample_${customer}_${amount}`
  if (type.startsWith('customer.subscription.')) {
    const { price = samplePrice, created } = rest
    const status = type.endsWith('.deleted') ? 'canceled' : rest.status
    const facts = { status, price, periodEnd: created + sampleMonthSeconds }
    return stripeSubscription(`sub_sample_${customer}`, customer, facts)
  }
  if (type.startsWith('subscription_schedule.')) {
    const subscription = `sub_sample_${customer}`
    return { id: `sub_sched_${name}`, object: 'subscription_schedule', customer, subscription }
  }
  if (type.startsWith('charge.dispute.')) {
    return stripeDispute(name, money, type.endsWith('.closed') ? 'won' : 'needs_response')
  }
  if (type.startsWith('refund.')) return stripeRefund(name, money, 'failed')
  if (type === 'invoice.paid') return stripeInvoice(name, customer, money)
  if (type === 'checkout.session.completed') {
    return { id: `cs_${name}`, object: 'checkout.session', customer, metadata: {} }
  }
  return stripeCharge(name, customer, money, type === 'charge.refunded' ? amount : 0)
}
