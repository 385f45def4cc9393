import { isJsonObject, type JsonObject, parseJsonObject } from '#src/runtime/json.ts'

/** What every kind of event has; `object` is what the kind is about. */
export type BillingEvent = {
  id: string
  type: string
  /** Unix seconds, as the provider says; absent when it says none. */
  created: number | null
  object: Readonly<Record<string, unknown>>
}

/** Kinds that are worked on; every other kind is recorded as `ignored`. */
export type EventKind = 'charge.succeeded' | 'subscription.created' | 'subscription.updated'

const kinds: readonly EventKind[] = [
  'charge.succeeded',
  'subscription.created',
  'subscription.updated',
]
// Contract 5. Nothing the database cannot keep as sent: no control characters, no half surrogates.
const printable = /^[^\p{C}\p{Zl}\p{Zp}]{1,255}$/u

/**
 * Parses verified bytes as an event.
 * @returns null when they are not JSON in UTF-8, or have no usable string `id` and `type`
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

/** The kind to work on, or null; the prefix `customer.` is accepted (contract 5). */
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

/** What can be said of a sample event; the rest is made up. */
export type SampleOptions = {
  id: string
  type: string
  /** Unix seconds. */
  created: number
  customer: string
  /** Minor units. */
  amount: number
  currency: string
  /** Of a subscription. */
  status: string
}

/** The body of an event as the billing provider would send it (contract 5). */
export function sampleEvent(options: SampleOptions): string {
  const { id, type, created } = options
  return JSON.stringify({ id, type, created, data: { object: objectOf(options) } })
}

function objectOf({ id, type, customer, amount, currency, status }: SampleOptions): object {
  if (type.includes('subscription.')) return { id: `sub_${customer}_${status}`, customer, status }
  return { id: `ch_${id}`, customer, amount, currency }
}
