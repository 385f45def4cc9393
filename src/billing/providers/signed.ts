import { digitsOf } from '#src/runtime/currencies.ts'
import {
  amountOf,
  currencyOf,
  type Effect,
  isSubscriptionStatus,
  textOf,
  timeOf,
} from '../effect.ts'
import {
  type BillingEvent,
  decodeObject,
  type EventKind,
  eventOf,
  isName,
  kindIn,
  objectIn,
} from '../event.ts'
import { verifySignature } from '../signature.ts'
import { type BillingProvider, headerOf } from './provider.ts'

/** Kinds that are processed (contract 5). Every other kind is recorded as `ignored`. */
export const signedKinds = {
  'charge.succeeded': 'payment',
  'subscription.created': 'subscription',
  'subscription.updated': 'subscription',
} as const satisfies Record<string, EventKind>

/**
 * The specification's own format: `webhook-signature: t=…,v1=…`, and a body
 * `{ "id", "type", "created", "data": { "object": { "id", "customer", … } } }`.
 */
export const signed: BillingProvider = {
  name: 'signed',
  kinds: signedKinds,
  endsAreFinal: false,
  verify: (headers, body, secrets, now) =>
    verifySignature(headerOf(headers, 'webhook-signature'), body, secrets, now),
  parse: (_headers, body) => parseSigned(body),
  effectOf,
}

function parseSigned(body: Uint8Array): BillingEvent | null {
  const event = decodeObject(body)
  if (event === null) return null
  const { id, type, created, data } = event
  if (!isName(id) || !isName(type)) return null
  const kind = kindOf(type)
  return eventOf({
    id,
    type,
    created: timeOf(created),
    kind,
    ignored: kind === null ? 'kind' : null,
    object: objectIn(objectIn(data).object),
  })
}

/** The kind of a type, or null if it is not processed. The prefix `customer.` is accepted (contract 5). */
export function kindOf(type: string): EventKind | null {
  return kindIn(signedKinds, type.replace(/^customer\./, ''))
}

function effectOf({ kind }: BillingEvent, object: BillingEvent['object']): Effect {
  if (kind === 'payment') {
    const customer = textOf(object.customer, 'data.object.customer')
    const amount = amountOf(object.amount, 'data.object.amount')
    const currency = currencyOf(object.currency, 'data.object.currency')
    return {
      kind,
      customer,
      payment: null,
      amount,
      currency,
      digits: digitsOf(currency),
      refunded: null,
    }
  }
  const { status } = object
  if (kind !== 'subscription' || !isSubscriptionStatus(status)) return { kind: 'none' }
  if (status === 'trialing') return { kind: 'none' } // contract 5: only `active` activates
  return {
    kind,
    customer: textOf(object.customer, 'data.object.customer'),
    state: { status, prices: [], periodEnd: null, cancelsAt: null },
    details: null,
  }
}
