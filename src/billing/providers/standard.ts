import { hmacSha256 } from '#src/crypto/hash.ts'
import {
  countIn,
  currencyIn,
  idIn,
  intervalIn,
  type SubscriptionDetails,
  timeTextOf,
} from '../details.ts'
import {
  amountOf,
  currencyOf,
  type Effect,
  isSubscriptionStatus,
  referenceOf,
  textOf,
} from '../effect.ts'
import {
  type BillingEvent,
  decodeObject,
  type EventKind,
  eventOf,
  ignoredBy,
  isName,
  kindIn,
  objectIn,
  secondsOf,
} from '../event.ts'
import { isAcceptedNumber, isUnixSeconds, judge, type Signed } from '../signature.ts'
import { stripeDigits } from './digits.ts'
import { type BillingProvider, headerOf } from './provider.ts'

/** Types that are processed, as Polar names them. */
export const standardKinds = {
  'order.paid': 'payment',
  'order.refunded': 'payment',
  'refund.updated': 'refund',
  'subscription.created': 'subscription',
  'subscription.updated': 'subscription',
  'subscription.active': 'subscription',
  'subscription.canceled': 'subscription',
  'subscription.uncanceled': 'subscription',
  'subscription.past_due': 'subscription',
  'subscription.revoked': 'subscription',
} as const satisfies Record<string, EventKind>

const prefix = 'whsec_'
// 32 bytes; one form only, because Buffer.from accepts much else.
const digestForm = /^[A-Za-z0-9+/]{43}=$/

/**
 * Standard Webhooks 1.0.0: `webhook-id`, `webhook-timestamp` and `webhook-signature` over
 * `<id>.<timestamp>.<body>`. The key is the decoded secret after `whsec_`, or at Polar's older endpoints the secret
 * as text.
 */
export const standard: BillingProvider = {
  name: 'standard',
  kinds: standardKinds,
  endsAreFinal: true,
  verify(headers, body, secrets, now) {
    const id = headerOf(headers, 'webhook-id')
    const keys = [...secrets.map(keyOf), ...secrets.map((secret) => Buffer.from(secret))]
    const verdict = judge(
      isName(id) ? readHeaders(headers) : null,
      (timestamp) => keys.map((key) => hmacSha256(key, `${id}.${timestamp}.`, body)),
      now,
    )
    return verdict.ok ? { ...verdict, secretIndex: verdict.secretIndex % secrets.length } : verdict
  },
  parse: (headers, body) => parseStandard(headerOf(headers, 'webhook-id'), body),
  effectOf,
}

/** The key of a secret: the bytes after `whsec_`. Without it the whole text, because text decodes to almost nothing. */
export function keyOf(secret: string): Buffer {
  return secret.startsWith(prefix)
    ? Buffer.from(secret.slice(prefix.length), 'base64')
    : Buffer.from(secret)
}

/** Signatures of other versions than `v1` are ignored. */
function readHeaders(headers: Parameters<BillingProvider['verify']>[0]): Signed | null {
  const timestamp = headerOf(headers, 'webhook-timestamp')
  if (!isUnixSeconds(timestamp)) return null
  const signatures: Buffer[] = []
  for (const part of headerOf(headers, 'webhook-signature').split(' ')) {
    const [version, value = '', ...rest] = part.split(',')
    if (version !== 'v1') continue
    if (rest.length > 0 || !digestForm.test(value)) return null
    signatures.push(Buffer.from(value, 'base64'))
  }
  return isAcceptedNumber(signatures.length) ? { timestamp, signatures } : null
}

/** The event's id is that of the header, which is the same for every delivery. */
function parseStandard(id: string, body: Uint8Array): BillingEvent | null {
  const event = decodeObject(body)
  if (event === null) return null
  const { type, timestamp, data } = event
  if (!isName(id) || !isName(type)) return null
  const kind = kindIn(standardKinds, type)
  const object = objectIn(data)
  const created = secondsOf(object.modified_at) ?? secondsOf(timestamp)
  return eventOf({ id, type, created, kind, ignored: ignoredBy(kind, customerOf(object)), object })
}

function customerOf({ customer_id: id, customer }: BillingEvent['object']): unknown {
  return id ?? referenceOf(customer)
}

function effectOf({ kind }: BillingEvent, object: BillingEvent['object']): Effect {
  if (kind === null) return { kind: 'none' }
  const customer = textOf(customerOf(object), 'data.customer_id')
  if (kind === 'payment') return orderEffect(object, customer)
  if (kind === 'refund') return refundEffect(object, customer)
  const { status } = object
  if (kind !== 'subscription' || !isSubscriptionStatus(status)) return { kind: 'none' }
  const periodEnd = secondsOf(object.current_period_end)
  return {
    kind,
    customer,
    state: {
      status,
      prices: [object.product_id, object.price_id].filter((id) => typeof id === 'string'),
      periodEnd,
      cancelsAt:
        secondsOf(object.ends_at) ?? (object.cancel_at_period_end === true ? periodEnd : null),
    },
    details: detailsOf(object),
    metadata: objectIn(object.metadata),
  }
}

function detailsOf(object: BillingEvent['object']): SubscriptionDetails {
  const currency = currencyIn(object.currency)
  const { applies_at: appliesAt } = objectIn(object.pending_update)
  const end = object.ends_at ?? (object.cancel_at_period_end === true && object.current_period_end)
  const cancel = timeTextOf(secondsOf(end))
  const change = timeTextOf(secondsOf(appliesAt))
  return {
    currency,
    digits: currency === null ? null : stripeDigits(currency),
    items: [
      {
        price: idIn(object.product_id),
        quantity: countIn(object.seats) ?? 1,
        amount: countIn(object.amount),
        interval: intervalIn(object.recurring_interval),
        intervalCount: countIn(object.recurring_interval_count),
      },
    ],
    trialEndsAt: timeTextOf(secondsOf(object.trial_end)),
    paymentsPaused: null,
    scheduledChange:
      cancel !== null
        ? { kind: 'cancel', at: cancel }
        : change !== null
          ? { kind: 'change', at: change }
          : null,
  }
}

/** An order is paid in part from the customer's balance (negative), and its refunds name their tax apart. */
function orderEffect(object: BillingEvent['object'], customer: string): Effect {
  const { applied_balance_amount: balance } = object
  const total = amountOf(object.total_amount, 'data.total_amount')
  const amount = Math.max(0, total + (Number.isSafeInteger(balance) ? Number(balance) : 0))
  if (amount === 0) return { kind: 'none' } // a trial, a discount of 100 %, or all from the balance
  const currency = currencyOf(object.currency, 'data.currency')
  return {
    kind: 'payment',
    customer,
    payment: textOf(object.id, 'data.id'),
    amount: amountOf(amount, 'data.total_amount'),
    currency,
    digits: stripeDigits(currency), // Polar charges through Stripe
    refunded:
      amountOf(object.refunded_amount ?? 0, 'data.refunded_amount') +
      amountOf(object.refunded_tax_amount ?? 0, 'data.refunded_tax_amount'),
  }
}

/** The order reports its refunds (`order.refunded`). Of a refund itself only the failure counts. */
function refundEffect(object: BillingEvent['object'], customer: string): Effect {
  if (object.status !== 'failed' && object.status !== 'canceled') return { kind: 'none' }
  return {
    kind: 'refund',
    customer,
    payment: textOf(object.order_id, 'data.order_id'),
    refund: textOf(object.id, 'data.id'),
    amount:
      amountOf(object.amount, 'data.amount') + amountOf(object.tax_amount ?? 0, 'data.tax_amount'),
    isFailed: true,
    remaining: null,
  }
}
