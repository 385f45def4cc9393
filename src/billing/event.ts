import { isJsonObject, type JsonObject, parseJsonObject } from '#src/runtime/json.ts'

/** An event of the billing provider. `object` is `data.object` of its body. */
export type BillingEvent = {
  id: string
  type: string
  /** Unix seconds, set by the provider; null if it sent none. */
  created: number | null
  object: Readonly<Record<string, unknown>>
}

/** Kinds that are processed. Every other kind is recorded as `ignored`. */
export type EventKind = 'charge.succeeded' | 'subscription.created' | 'subscription.updated'

const kinds: readonly EventKind[] = [
  'charge.succeeded',
  'subscription.created',
  'subscription.updated',
]
// Contract 5. Excludes what PostgreSQL cannot store as sent: control characters, lone surrogates.
const printable = /^[^\p{C}\p{Zl}\p{Zp}]{1,255}$/u

/**
 * Parses verified bytes as an event.
 * @returns null if they are not JSON in UTF-8, or lack a valid string `id` or `type`
 */
export function parseEvent(body: Uint8Array): BillingEvent | null {
  const event = decodeObject(body)
  if (event === null) return null
  const { id, type, created, data } = event
  if (typeof id !== 'string' || !printable.test(id)) return null
  if (typeof type !== 'string' || !printable.test(type)) return null
  return {
    id,
    type,
    created: typeof created === 'number' && Number.isFinite(created) ? created : null,
    object: (isJsonObject(data) && isJsonObject(data.object) && data.object) || {},
  }
}

/** The object of an event; null if it has no id. */
export function objectIdOf({ object: { id } }: BillingEvent): string | null {
  return typeof id === 'string' && id !== '' && id.length <= 255 ? id : null
}

/**
 * The object whose state an event reports; null for events whose order does not matter. A charge
 * that succeeded stays succeeded; of a subscription only the last state counts.
 */
export function statefulIdOf(event: BillingEvent): string | null {
  const kind = kindOf(event.type)
  const isState = kind === 'subscription.created' || kind === 'subscription.updated'
  return isState ? objectIdOf(event) : null
}

/** The kind of a type, or null if it is not processed. The prefix `customer.` is accepted (contract 5). */
export function kindOf(type: string): EventKind | null {
  const bare = type.replace(/^customer\./, '')
  return kinds.find((kind) => kind === bare) ?? null
}

function decodeObject(body: Uint8Array): JsonObject | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    return parseJsonObject(text)
  } catch {
    return null
  }
}

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
