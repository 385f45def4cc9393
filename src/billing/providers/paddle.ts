import { hmacSha256 } from '#src/crypto/hash.ts'
import { digitsOf } from '#src/runtime/currencies.ts'
import {
  countIn,
  currencyIn,
  idIn,
  intervalIn,
  type SubscriptionDetails,
  scheduledKinds,
  timeTextOf,
} from '../details.ts'
import {
  amountOfDigits,
  currencyOf,
  type Effect,
  isSubscriptionStatus,
  membersOf,
  textOf,
} from '../effect.ts'
import {
  type BillingEvent,
  decodeObject,
  type EventKind,
  eventOf,
  idOf,
  ignoredBy,
  isName,
  kindIn,
  objectIn,
  secondsOf,
} from '../event.ts'
import { judge, readHeader } from '../signature.ts'
import { type BillingProvider, headerOf } from './provider.ts'

/** Types that are processed. */
export const paddleKinds = {
  'transaction.completed': 'payment',
  'adjustment.created': 'refund',
  'adjustment.updated': 'refund',
  'subscription.created': 'subscription',
  'subscription.activated': 'subscription',
  'subscription.canceled': 'subscription',
  'subscription.past_due': 'subscription',
  'subscription.paused': 'subscription',
  'subscription.resumed': 'subscription',
  'subscription.trialing': 'subscription',
  'subscription.updated': 'subscription',
} as const satisfies Record<string, EventKind>

/** Paddle Billing: `Paddle-Signature: ts=…;h1=…` over `<ts>:<body>`. */
export const paddle: BillingProvider = {
  name: 'paddle',
  kinds: paddleKinds,
  endsAreFinal: true,
  verify: (headers, body, secrets, now) =>
    judge(
      readHeader(headerOf(headers, 'paddle-signature'), {
        separator: ';',
        timeKey: 'ts',
        signatureKey: 'h1',
      }),
      (timestamp) => secrets.map((secret) => hmacSha256(secret, `${timestamp}:`, body)),
      now,
    ),
  parse: (_headers, body) => parsePaddle(body),
  effectOf,
}

function parsePaddle(body: Uint8Array): BillingEvent | null {
  const event = decodeObject(body)
  if (event === null) return null
  const { event_id: id, event_type: type, occurred_at: occurredAt, data } = event
  if (!isName(id) || !isName(type)) return null
  const kind = kindIn(paddleKinds, type)
  const object = objectIn(data)
  const ignored = ignoredBy(kind, object.customer_id)
  return eventOf({ id, type, created: secondsOf(occurredAt), kind, ignored, object })
}

function effectOf({ kind }: BillingEvent, object: BillingEvent['object']): Effect {
  if (kind === null) return { kind: 'none' }
  const customer = textOf(object.customer_id, 'data.customer_id')
  if (kind === 'payment') {
    const totals = objectIn(objectIn(object.details).totals)
    const amount = amountOfDigits(totals.grand_total, 'data.details.totals.grand_total')
    if (amount === 0) return { kind: 'none' } // a trial, a discount of 100 %, or all from the balance
    const currency = currencyOf(object.currency_code, 'data.currency_code')
    return {
      kind,
      customer,
      payment: textOf(object.id, 'data.id'),
      amount,
      currency,
      digits: digitsOf(currency), // all that Paddle supports have those of ISO 4217
      refunded: null,
    }
  }
  if (kind === 'refund') return adjustmentEffect(object, customer)
  const { status } = object
  if (kind !== 'subscription' || !isSubscriptionStatus(status)) return { kind: 'none' }
  const { action, effective_at: effectiveAt } = objectIn(object.scheduled_change)
  return {
    kind,
    customer,
    state: {
      status,
      prices: membersOf(object.items).flatMap(({ price }) => idOf(objectIn(price)) ?? []),
      periodEnd: secondsOf(objectIn(object.current_billing_period).ends_at),
      cancelsAt: action === 'cancel' ? secondsOf(effectiveAt) : null,
    },
    details: detailsOf(object),
    metadata: objectIn(object.custom_data),
  }
}

/** The price of an item is in its own currency; customers of other countries pay an override, which is not named. */
function detailsOf(object: BillingEvent['object']): SubscriptionDetails {
  const currency = currencyIn(object.currency_code)
  const { action, effective_at: effectiveAt } = objectIn(object.scheduled_change)
  const items = membersOf(object.items)
  const trials = items.map((item) => timeTextOf(secondsOf(objectIn(item.trial_dates).ends_at)))
  const kind = scheduledKinds.find((one) => one === action)
  return {
    currency,
    digits: currency === null ? null : digitsOf(currency),
    items: items.map((item) => {
      const price = objectIn(item.price)
      const { amount, currency_code: priced } = objectIn(price.unit_price)
      const { interval, frequency } = objectIn(price.billing_cycle)
      const isNamed = typeof amount === 'string' && /^\d{1,16}$/.test(amount)
      return {
        price: idIn(price.id),
        quantity: countIn(item.quantity),
        amount: isNamed && currencyIn(priced) === currency ? countIn(Number(amount)) : null,
        interval: intervalIn(interval),
        intervalCount: countIn(frequency),
      }
    }),
    trialEndsAt: trials.find((end) => end !== null) ?? null,
    paymentsPaused: null,
    scheduledChange: kind === undefined ? null : { kind, at: timeTextOf(secondsOf(effectiveAt)) },
  }
}

/** A refund counts once it is approved; a chargeback is a dispute until it is reversed. */
function adjustmentEffect(object: BillingEvent['object'], customer: string): Effect {
  const { action, status } = object
  const payment = textOf(object.transaction_id, 'data.transaction_id')
  if (action === 'chargeback' || action === 'chargeback_reverse') {
    // A reversal is an adjustment of its own, and Paddle then sends the chargeback again with this status.
    const state = action === 'chargeback' && status !== 'reversed' ? 'open' : 'closed'
    return { kind: 'dispute', customer, dispute: `dispute of ${payment}`, payment, state }
  }
  const isApproved = status === 'approved'
  // A refund that is taken back counts as none.
  if (action !== 'refund' || !(isApproved || status === 'reversed')) return { kind: 'none' }
  const total = amountOfDigits(objectIn(object.totals).total, 'data.totals.total')
  return {
    kind: 'refund',
    customer,
    payment,
    refund: textOf(object.id, 'data.id'),
    amount: isApproved ? total : 0,
    isFailed: false,
    remaining: null,
  }
}
