import {
  stripeCharge,
  stripeDispute,
  stripeEvent,
  stripeInvoice,
  stripeRefund,
  stripeSubscription,
} from './sample-stripe.ts'
import { signatureHeader } from './signature.ts'

/** The fields of a sample event that a caller chooses. */
export type SampleOptions = {
  id: string
  type: string
  /** Unix seconds. */
  created: number
  customer: string
  /** Minor units. */
  amount: number
  currency: string
  /** Status of a subscription. */
  status: string
  /** What a subscription of Stripe buys. */
  price?: string
}

/** The providers whose events can be made. */
export type SampleProvider = 'signed' | 'stripe'

/** The body of an event, and the header that signs it, as the billing provider sends them. */
export function signSample(
  provider: SampleProvider,
  options: SampleOptions,
  secret: string,
): { body: string; header: string } {
  const body = provider === 'signed' ? sampleEvent(options) : sampleOfStripe(options)
  const name = provider === 'signed' ? 'webhook-signature' : 'stripe-signature'
  return { body, header: `${name}: ${signatureHeader(secret, body, options.created)}` }
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

const monthSeconds = 30 * 86_400

function sampleOfStripe(options: SampleOptions): string {
  const { id, type, created } = options
  return JSON.stringify(stripeEvent({ id, type, created }, stripeObjectOf(options)))
}

/** Charges, refunds and disputes of one customer are about one payment, so that they meet. */
function stripeObjectOf({ type, customer, amount, currency, ...rest }: SampleOptions) {
  const money = { amount, currency }
  const name = `sample_${customer}_${amount}`
  if (type.startsWith('customer.subscription.')) {
    const { price = 'price_pro', created } = rest
    const status = type.endsWith('.deleted') ? 'canceled' : rest.status
    const facts = { status, price, periodEnd: created + monthSeconds }
    return stripeSubscription(`sub_sample_${customer}`, customer, facts)
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
