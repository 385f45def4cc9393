import { hmacSha256 } from '#src/crypto/hash.ts'
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
 * `<id>.<timestamp>.<body>`. The key is the decoded secret after `whsec_`.
 */
export const standard: BillingProvider = {
  name: 'standard',
  verify(headers, body, secrets, now) {
    const id = headerOf(headers, 'webhook-id')
    return judge(
      isName(id) ? readHeaders(headers) : null,
      (timestamp) =>
        secrets.map((secret) => hmacSha256(keyOf(secret), `${id}.${timestamp}.`, body)),
      now,
    )
  },
  parse: (headers, body) => parseStandard(headerOf(headers, 'webhook-id'), body),
  effectOf,
}

/** The key of a secret: base64 after an optional `whsec_`. */
export function keyOf(secret: string): Buffer {
  return Buffer.from(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret, 'base64')
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
  if (kind === 'payment') {
    const currency = currencyOf(object.currency, 'data.currency')
    return {
      kind,
      customer,
      payment: textOf(object.id, 'data.id'),
      amount: amountOf(object.total_amount, 'data.total_amount'),
      currency,
      digits: stripeDigits(currency), // Polar charges through Stripe
      refunded: amountOf(object.refunded_amount ?? 0, 'data.refunded_amount'),
    }
  }
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
  }
}
