import type { JsonObject } from '#src/runtime/json.ts'
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
  type DisputeState,
  type Effect,
  isSubscriptionStatus,
  membersOf,
  referenceOf,
  type SubscriptionState,
  textOf,
  timeOf,
} from '../effect.ts'
import {
  type BillingEvent,
  decodeObject,
  type EventKind,
  eventOf,
  type IgnoredReason,
  idOf,
  isName,
  kindIn,
  objectIn,
  secondsOf,
} from '../event.ts'
import { verifySignature } from '../signature.ts'
import { stripeDigits } from './digits.ts'
import { readMark } from './mark.ts'
import { type BillingProvider, headerOf, type ProviderOptions } from './provider.ts'

/** Types that are processed. Thin events have the same with the prefix `v1.`. */
export const stripeKinds = {
  'charge.succeeded': 'payment',
  'charge.captured': 'payment',
  'charge.refunded': 'payment',
  'charge.dispute.created': 'dispute',
  'charge.dispute.updated': 'dispute',
  'charge.dispute.funds_withdrawn': 'dispute',
  'charge.dispute.closed': 'dispute',
  'checkout.session.completed': 'checkout',
  'customer.subscription.created': 'subscription',
  'customer.subscription.updated': 'subscription',
  'customer.subscription.deleted': 'subscription',
  'customer.subscription.paused': 'subscription',
  'customer.subscription.resumed': 'subscription',
  'invoice.paid': 'invoice',
  'refund.failed': 'refund',
  'refund.updated': 'refund',
  'subscription_schedule.canceled': 'subscription',
  'subscription_schedule.created': 'subscription',
  'subscription_schedule.released': 'subscription',
  'subscription_schedule.updated': 'subscription',
} as const satisfies Record<string, EventKind>

/** Paths of the API by the prefix of an id, for objects that a thin event only names. */
const relatedPath =
  /^\/v1\/((?:charges|disputes|refunds|subscriptions|subscription_schedules|invoices|checkout\/sessions)\/[A-Za-z0-9_]{1,255})$/

/** Stripe: `Stripe-Signature: t=…,v1=…` over `<t>.<body>`, snapshot and thin events. */
export function stripe(options: ProviderOptions): BillingProvider {
  return {
    name: 'stripe',
    kinds: stripeKinds,
    endsAreFinal: true,
    verify: (headers, body, secrets, now) =>
      verifySignature(headerOf(headers, 'stripe-signature'), body, secrets, now),
    parse: (_headers, body) => parseStripe(body, options),
    effectOf: (event, object) => effectOf(event, object, options),
  }
}

function parseStripe(body: Uint8Array, { production }: ProviderOptions): BillingEvent | null {
  const event = decodeObject(body)
  if (event === null) return null
  const { id, type, livemode } = event
  if (!isName(id) || !isName(type)) return null
  const isThin = event.object === 'v2.core.event'
  const kind = kindIn(stripeKinds, isThin ? type.replace(/^v1\./, '') : type)
  const related = objectIn(event.related_object)
  const sent = objectIn(isThin ? related : objectIn(event.data).object)
  const isSchedule = sent.object === 'subscription_schedule'
  const whole = kind === 'payment' ? withoutReleased(sent, event.api_version) : sent
  const object = isSchedule ? scheduledIn(sent) : whole
  const account = event.account ?? (isThin ? event.context : null) ?? null
  const created = isThin ? secondsOf(event.created) : timeOf(event.created)
  const read = eventOf({ id, type, created, kind, ignored: ignoredBecause(), object })
  const [, path = null] = relatedPath.exec(String(related.url)) ?? []
  return isThin ? { ...read, object: {}, isThin, related: path } : read

  function ignoredBecause(): IgnoredReason | null {
    if (kind === null) return 'kind'
    if (livemode === false && production) return 'test-mode'
    if (account !== null) return 'connected-account'
    const namesCustomer = !isThin && kind !== 'dispute' && kind !== 'refund'
    const isGuest = namesCustomer && (referenceOf(object.customer) ?? null) === null
    return isGuest ? 'guest' : null
  }
}

/**
 * A schedule as its subscription, of which it says no state: with an API key that is fetched, otherwise nothing happens.
 * One that has not begun has no subscription.
 */
function scheduledIn(schedule: JsonObject): JsonObject {
  const id = referenceOf(schedule.subscription ?? schedule.released_subscription)
  return { id: id ?? null, customer: schedule.customer ?? null }
}

function effectOf(
  { kind }: BillingEvent,
  object: BillingEvent['object'],
  { baseUrl }: ProviderOptions,
): Effect {
  if (kind === null) return { kind: 'none' }
  const customer = referenceOf(object.customer) ?? null
  if (kind === 'dispute') {
    return {
      kind,
      customer: null,
      dispute: textOf(object.id, 'data.object.id'),
      payment: textOf(paymentOf(object, 'charge'), 'data.object.charge'),
      state: disputeStateOf(String(object.status)),
    }
  }
  if (kind === 'refund') return refundEffect(object)
  if (customer === null) return { kind: 'none' } // a thin event of a guest
  const holder = textOf(customer, 'data.object.customer')
  switch (kind) {
    case 'payment':
      return chargeEffect(object, holder)
    case 'invoice':
      return invoiceEffect(object, holder)
    case 'subscription':
      return subscriptionEffect(object, holder)
    case 'checkout':
      return checkoutEffect(object, holder, baseUrl)
    default:
      return { kind: 'none' }
  }
}

/** An inquiry (`warning_…`) asks about a payment and leaves it paid; it may become a dispute. */
function disputeStateOf(status: string): DisputeState {
  if (status === 'lost') return 'lost'
  const isOver = status === 'won' || status === 'prevented' || status.startsWith('warning_')
  return isOver ? 'closed' : 'open'
}

/** A charge and its invoice share the payment intent; charges of old integrations have none. */
function paymentOf(object: BillingEvent['object'], otherwise: 'id' | 'charge'): unknown {
  return referenceOf(object.payment_intent) ?? referenceOf(object[otherwise])
}

// Changelog of 2025-03-31.basil: "Partially capturing or canceling payments no longer creates a Refund".
const firstWithoutReleased = '2025-03-31'

/**
 * Before that version, a charge captured in part counted the rest, which was released, as refunded.
 * Versions start with their date.
 */
function withoutReleased(charge: BillingEvent['object'], version: unknown): BillingEvent['object'] {
  const { amount, amount_captured: captured, amount_refunded: refunded } = charge
  if (typeof version !== 'string' || version >= firstWithoutReleased) return charge
  if (![amount, captured, refunded].every(Number.isSafeInteger)) return charge
  const released = Number(amount) - Number(captured)
  return { ...charge, amount_refunded: Math.max(0, Number(refunded) - released) }
}

/** A charge that is only authorized is not paid. One may be captured in part. */
function chargeEffect(object: BillingEvent['object'], customer: string): Effect {
  if (object.captured === false) return { kind: 'none' }
  const authorized = amountOf(object.amount, 'data.object.amount')
  const currency = currencyOf(object.currency, 'data.object.currency')
  return {
    kind: 'payment',
    customer,
    payment: textOf(paymentOf(object, 'id'), 'data.object.id'),
    amount: amountOf(object.amount_captured ?? authorized, 'data.object.amount_captured'),
    currency,
    digits: stripeDigits(currency),
    refunded: amountOf(object.amount_refunded ?? 0, 'data.object.amount_refunded'),
  }
}

/** The charge reports its refunds (`charge.refunded`). Of a refund itself only the failure counts. */
function refundEffect(object: BillingEvent['object']): Effect {
  if (object.status !== 'failed' && object.status !== 'canceled') return { kind: 'none' }
  return {
    kind: 'refund',
    customer: null,
    payment: textOf(paymentOf(object, 'charge'), 'data.object.charge'),
    refund: textOf(object.id, 'data.object.id'),
    amount: amountOf(object.amount, 'data.object.amount'),
    isFailed: true,
    remaining: null,
  }
}

/**
 * The charge of an invoice has an event of its own, which counts when the invoice does not name its
 * payment, or was paid in several. An invoice that was paid with a credit has no charge.
 */
function invoiceEffect(object: BillingEvent['object'], customer: string): Effect {
  const paid = membersOf(objectIn(object.payments).data).filter(({ status }) => status === 'paid')
  if (paid.length > 1) return { kind: 'none' }
  const { payment_intent, charge } = objectIn(paid[0]?.payment)
  const amount = amountOf(object.amount_paid ?? 0, 'data.object.amount_paid')
  const named = [payment_intent, charge, object.payment_intent, object.charge]
    .map(referenceOf)
    .find((id) => typeof id === 'string')
  if (named === undefined || amount === 0) return { kind: 'none' }
  const currency = currencyOf(object.currency, 'data.object.currency')
  return {
    kind: 'payment',
    customer,
    payment: textOf(named, 'data.object.payments'),
    amount,
    currency,
    digits: stripeDigits(currency),
    refunded: null,
  }
}

function subscriptionEffect(object: BillingEvent['object'], customer: string): Effect {
  const { status } = object
  if (!isSubscriptionStatus(status)) return { kind: 'none' }
  const items = membersOf(objectIn(object.items).data)
  const ends = items.flatMap(({ current_period_end: end }) => timeOf(end) ?? [])
  // Until version 2025-03-31 the period was the subscription's own.
  const periodEnd = ends.length > 0 ? Math.max(...ends) : timeOf(object.current_period_end)
  const cancelsAt =
    timeOf(object.cancel_at) ?? (object.cancel_at_period_end === true ? periodEnd : null)
  const state: SubscriptionState = {
    status,
    prices: items.flatMap(({ price }) => idOf(objectIn(price)) ?? []),
    periodEnd,
    cancelsAt,
  }
  const details = detailsOf(object, items, cancelsAt)
  return { kind: 'subscription', customer, state, details, metadata: objectIn(object.metadata) }
}

/** The price of an item may be in another currency than the subscription, whose amount it then does not name. */
function detailsOf(
  object: BillingEvent['object'],
  items: readonly JsonObject[],
  cancelsAt: number | null,
): SubscriptionDetails {
  const currency = currencyIn(object.currency)
  const paused = objectIn(object.pause_collection)
  return {
    currency,
    digits: currency === null ? null : stripeDigits(currency),
    items: items.map((item) => {
      const price = objectIn(item.price)
      const { interval, interval_count: count } = objectIn(price.recurring)
      return {
        price: idIn(price.id),
        quantity: countIn(item.quantity),
        amount: currencyIn(price.currency) === currency ? countIn(price.unit_amount) : null,
        interval: intervalIn(interval),
        intervalCount: countIn(count),
      }
    }),
    trialEndsAt: timeTextOf(object.trial_end),
    paymentsPaused: paused.behavior === undefined ? null : { until: timeTextOf(paused.resumes_at) },
    scheduledChange:
      cancelsAt === null
        ? nextPhaseIn(objectIn(object.schedule))
        : { kind: 'cancel', at: timeTextOf(cancelsAt) },
  }
}

/** What the schedule of a subscription plans next; null if that is nothing, or only its id is known. */
function nextPhaseIn(schedule: JsonObject): SubscriptionDetails['scheduledChange'] {
  const end = timeOf(objectIn(schedule.current_phase).end_date)
  if (schedule.status !== 'active' || end === null) return null
  const starts = membersOf(schedule.phases).flatMap(({ start_date }) => timeOf(start_date) ?? [])
  if (starts.some((start) => start >= end)) return { kind: 'change', at: timeTextOf(end) }
  return schedule.end_behavior === 'cancel' ? { kind: 'cancel', at: timeTextOf(end) } : null
}

/** Only the holder of the API key can write metadata; `client_reference_id` is anybody's choice. */
function checkoutEffect(object: BillingEvent['object'], customer: string, baseUrl: string): Effect {
  const holder = readMark(object.metadata, baseUrl)
  return holder === null ? { kind: 'none' } : { kind: 'checkout', customer, holder }
}
