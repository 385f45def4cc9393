import { storableText } from '#src/runtime/text.ts'
import { type BillingEvent, kindOf } from './event.ts'

/** What an event does, decided from its contents alone. */
export type Effect =
  | { kind: 'create-invoice'; customer: string; amount: number; currency: string }
  | { kind: 'activate'; customer: string }
  | { kind: 'none' }

/** An event that can never be processed; `message` says why. */
export class PoisonEvent extends Error {
  override readonly name = 'PoisonEvent'
}

/**
 * Decides the effect of an event.
 * @throws PoisonEvent if its object lacks a field that its kind needs
 */
export function decideEffect(event: BillingEvent): Effect {
  const { object } = event
  switch (kindOf(event.type)) {
    case 'charge.succeeded':
      return {
        kind: 'create-invoice',
        customer: textOf(object, 'customer'),
        amount: amountOf(object),
        currency: currencyOf(object),
      }
    case 'subscription.created':
    case 'subscription.updated':
      return object.status === 'active'
        ? { kind: 'activate', customer: textOf(object, 'customer') }
        : { kind: 'none' }
    case null:
      return { kind: 'none' }
  }
}

function textOf(object: BillingEvent['object'], name: string): string {
  const value = object[name]
  if (typeof value !== 'string' || value === '') {
    throw new PoisonEvent(`data.object.${name} is missing`)
  }
  if (value === storableText(value)) return value
  throw new PoisonEvent(`data.object.${name} has characters that cannot be stored`)
}

function amountOf({ amount }: BillingEvent['object']): number {
  if (typeof amount === 'number' && Number.isSafeInteger(amount) && amount >= 0) return amount
  throw new PoisonEvent('data.object.amount is not an amount in minor units')
}

function currencyOf(object: BillingEvent['object']): string {
  const currency = textOf(object, 'currency').toLowerCase()
  if (/^[a-z]{3}$/.test(currency)) return currency
  throw new PoisonEvent('data.object.currency is not an ISO 4217 code')
}
