/** Bodies as Stripe sends them, as far as a sample needs them. Times are Unix seconds, amounts minor units. */

type Fields = Readonly<Record<string, unknown>>

/** A snapshot event. */
export function stripeEvent(
  { id, type, created }: { id: string; type: string; created: number },
  object: Fields,
) {
  return {
    ...{ id, object: 'event', api_version: '2026-10-28.endive', created, type, livemode: false },
    ...{ data: { object }, pending_webhooks: 1, request: { id: null, idempotency_key: null } },
  }
}

type Money = { amount: number; currency: string }

/** A charge that was paid. @param name ends its ids */
export function stripeCharge(
  name: string,
  customer: string,
  { amount, currency }: Money,
  refunded = 0,
) {
  return {
    ...{ id: `ch_${name}`, object: 'charge', payment_intent: `pi_${name}`, customer, currency },
    ...{ amount, amount_captured: amount, amount_refunded: refunded, captured: true, paid: true },
    ...{ refunded: refunded === amount, disputed: false, livemode: false, status: 'succeeded' },
  }
}

export function stripeInvoice(name: string, customer: string, { amount, currency }: Money) {
  const payment = { type: 'payment_intent', payment_intent: `pi_${name}` }
  return {
    ...{ id: `in_${name}`, object: 'invoice', customer, currency, livemode: false },
    ...{ amount_due: amount, amount_paid: amount, status: 'paid' },
    payments: {
      object: 'list',
      data: [{ id: `inpay_${name}`, object: 'invoice_payment', payment, status: 'paid' }],
    },
  }
}

export function stripeDispute(name: string, { amount, currency }: Money, status: string) {
  const payment = { charge: `ch_${name}`, payment_intent: `pi_${name}` }
  return { id: `dp_${name}`, object: 'dispute', amount, currency, ...payment, status }
}

export function stripeRefund(name: string, { amount, currency }: Money, status: string) {
  const payment = { charge: `ch_${name}`, payment_intent: `pi_${name}` }
  return { id: `re_${name}`, object: 'refund', amount, currency, ...payment, status }
}

export type StripeSubscription = ReturnType<typeof stripeSubscription>

export function stripeSubscription(
  id: string,
  customer: string,
  facts: { status: string; price: string; periodEnd: number; quantity?: number },
) {
  const { status, price, periodEnd, quantity = 1 } = facts
  const item = { id: `si_${id}`, current_period_end: periodEnd, price: { id: price }, quantity }
  return {
    ...{ id, object: 'subscription', customer, status, livemode: false },
    ...{ cancel_at: null, cancel_at_period_end: false },
    items: { object: 'list', data: [item] },
  }
}
