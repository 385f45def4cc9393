import type { JsonObject } from '#src/runtime/json.ts'
import { storableText } from '#src/runtime/text.ts'
import { timeOf } from './effect.ts'

/** What somebody has bought, as the provider reports it. Times are RFC 3339. A provider that does not say it: null. */
export type SubscriptionDetails = {
  /** ISO 4217, in small letters. */
  currency: string | null
  /** Digits of amounts after the decimal point, by the rules of the provider. */
  digits: number | null
  items: readonly SubscriptionItem[]
  trialEndsAt: string | null
  /** Nothing is charged for now, and the plan stays. */
  paymentsPaused: { until: string | null } | null
  scheduledChange: { kind: ScheduledKind; at: string | null } | null
  /** Of what the provider has beside it, the keys of BILLING_METADATA. */
  metadata?: Readonly<Record<string, string>>
}

export type SubscriptionItem = {
  price: string | null
  /** The number of seats or pieces. */
  quantity: number | null
  /** Minor units for one piece in each interval; null if it is not one number, such as with tiers. */
  amount: number | null
  interval: Interval | null
  intervalCount: number | null
}

export const intervals = ['day', 'week', 'month', 'year'] as const
type Interval = (typeof intervals)[number]
export const scheduledKinds = ['cancel', 'pause', 'resume', 'change'] as const
type ScheduledKind = (typeof scheduledKinds)[number]

// What follows is shown and decides nothing, so what cannot be read is null and no fault.

export function intervalIn(value: unknown): Interval | null {
  return intervals.find((interval) => interval === value) ?? null
}

export function countIn(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

export function currencyIn(value: unknown): string | null {
  return typeof value === 'string' && /^[A-Za-z]{3}$/.test(value) ? value.toLowerCase() : null
}

export function idIn(value: unknown): string | null {
  return typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value) ? value : null
}

/** @param seconds Unix time */
export function timeTextOf(seconds: unknown): string | null {
  const time = new Date((timeOf(seconds) ?? Number.NaN) * 1_000)
  return Number.isNaN(time.getTime()) ? null : time.toISOString()
}

/** What a price costs. */
export type PriceTerms = {
  /** Minor units for each interval. */
  amount: number
  /** ISO 4217, in small letters. */
  currency: string
  digits: number
  interval: Interval
  intervalCount: number
  /** Days that cost nothing before the first payment; null if there are none. */
  trialDays: number | null
}

/**
 * The terms of a price.
 * @returns null unless all of it can be read
 */
export function termsOf(
  {
    amount,
    currency: written,
    interval: every,
    intervalCount: each,
    trialDays,
  }: Readonly<Record<keyof Omit<PriceTerms, 'digits'>, unknown>>,
  digitsOf: (currency: string) => number,
): PriceTerms | null {
  const [price, currency, interval] = [countIn(amount), currencyIn(written), intervalIn(every)]
  const intervalCount = countIn(each)
  if (price === null || currency === null || interval === null || !intervalCount) return null
  const terms = { amount: price, currency, digits: digitsOf(currency), interval, intervalCount }
  return { ...terms, trialDays: countIn(trialDays) || null }
}

const maxValue = 500 // characters, the most that Stripe takes

/** The allowed keys of metadata, whose values are texts, numbers or flags; what is longer is left out. */
export function allowedIn(metadata: JsonObject, allowed: readonly string[]) {
  const kept = allowed.flatMap((key): [string, string][] => {
    const value = Object.hasOwn(metadata, key) ? metadata[key] : null
    const text = ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : null
    return text === null || text.length > maxValue ? [] : [[key, storableText(text)]]
  })
  return Object.fromEntries(kept)
}
