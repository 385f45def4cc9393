import type { JsonObject } from '#src/runtime/json.ts'
import { storableText } from '#src/runtime/text.ts'
import type { SubscriptionDetails } from './details.ts'
import type { Holder } from './holder.ts'

/** The states of a subscription, in one vocabulary for all providers. */
export const subscriptionStatuses = [
  'active',
  'trialing',
  'past_due',
  'unpaid',
  'paused',
  'canceled',
  'incomplete',
  'incomplete_expired',
] as const
export type SubscriptionStatus = (typeof subscriptionStatuses)[number]

/** The states that nothing follows. */
export const endedStatuses: readonly SubscriptionStatus[] = ['canceled', 'incomplete_expired']

/** The present state of a subscription. Times are Unix seconds. */
export type SubscriptionState = {
  status: SubscriptionStatus
  /** The provider's ids of what was bought. */
  prices: readonly string[]
  periodEnd: number | null
  /** When it ends, if somebody has cancelled it. */
  cancelsAt: number | null
}

/** `lost`: the cardholder has the money back. `closed`: it stays paid, as during an inquiry, which moves no money. */
export type DisputeState = 'open' | 'lost' | 'closed'

/** What an event does, in one vocabulary for all providers. Amounts are minor units. */
export type Effect =
  | {
      kind: 'payment'
      customer: string
      /** Two events of one payment have one invoice; null: every event has its own. */
      payment: string | null
      amount: number
      currency: string
      /** Digits of `amount` after the decimal point, by the rules of the provider. */
      digits: number
      /** All that was refunded so far; null if the object does not say it. */
      refunded: number | null
    }
  /**
   * One refund of a payment, counted once. A failed one is subtracted from what the payment reported
   * before.
   */
  | {
      kind: 'refund'
      customer: string | null
      payment: string
      refund: string
      amount: number
      isFailed: boolean
      /** All that is refunded of the payment now, if the provider was asked. */
      remaining: number | null
    }
  | {
      kind: 'dispute'
      customer: string | null
      dispute: string
      payment: string
      state: DisputeState
    }
  | {
      kind: 'subscription'
      customer: string
      state: SubscriptionState
      /** Null if the provider says none. */
      details: SubscriptionDetails | null
      /** All that the provider has; only what the operator allows is kept. */
      metadata?: JsonObject
    }
  /** A checkout that this program started has ended. */
  | { kind: 'checkout'; customer: string; holder: Holder }
  | { kind: 'none' }

/** An event that can never be processed; `message` says why. */
export class PoisonEvent extends Error {
  override readonly name = 'PoisonEvent'
}

const maxTextCharacters = 255 // as an event's id

/**
 * Reads a text that is stored.
 * @param name path of the field, for the message
 * @throws PoisonEvent
 */
export function textOf(value: unknown, name: string): string {
  if (typeof value !== 'string' || value === '') throw new PoisonEvent(`${name} is missing`)
  if (value.length > maxTextCharacters) throw new PoisonEvent(`${name} is too long`)
  if (value === storableText(value)) return value
  throw new PoisonEvent(`${name} has characters that cannot be stored`)
}

/** Minor units of a currency. @throws PoisonEvent */
export function amountOf(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new PoisonEvent(`${name} is not an amount in minor units`)
}

/** Minor units that a provider sends as digits. @throws PoisonEvent */
export function amountOfDigits(value: unknown, name: string): number {
  const isDigits = typeof value === 'string' && /^\d{1,16}$/.test(value)
  return amountOf(isDigits ? Number(value) : null, name)
}

/** @throws PoisonEvent */
export function currencyOf(value: unknown, name: string): string {
  const currency = textOf(value, name).toLowerCase()
  if (/^[a-z]{3}$/.test(currency)) return currency
  throw new PoisonEvent(`${name} is not an ISO 4217 code`)
}

/** An id, or the object with it, if the provider has been asked to send the object. */
export function referenceOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'id' in value ? value.id : value
}

export function isSubscriptionStatus(value: unknown): value is SubscriptionStatus {
  return subscriptionStatuses.some((status) => status === value)
}

/** Unix seconds of a field; null if it has none. */
export function timeOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** The members of a list that are objects. */
export function membersOf(value: unknown): JsonObject[] {
  return Array.isArray(value)
    ? value.filter((one): one is JsonObject => typeof one === 'object' && one !== null)
    : []
}
