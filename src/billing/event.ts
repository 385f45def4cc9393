import { isJsonObject, type JsonObject, parseJsonObject } from '#src/runtime/json.ts'

/** What an event reports, in one vocabulary for all providers. */
export type EventKind = 'payment' | 'invoice' | 'refund' | 'dispute' | 'subscription' | 'checkout'

/** Why an event is recorded and not processed. */
export type IgnoredReason =
  /** Its type is not processed. */
  | 'kind'
  /** It is about money or objects of a test in production. */
  | 'test-mode'
  /** It happened in another account that is connected to this one. */
  | 'connected-account'
  /** It is about somebody who is not a customer. */
  | 'guest'

/** An event of the billing provider. */
export type BillingEvent = {
  id: string
  type: string
  /** Unix seconds, set by the provider; null if it sent none. */
  created: number | null
  kind: EventKind | null
  /** Null if the event is processed. */
  ignored: IgnoredReason | null
  /** The object that the event is about, as it was then; empty if the event is thin. */
  object: JsonObject
  /** Id of the object; null if it has none. */
  objectId: string | null
  /** The object has states, of which the newest counts. */
  isState: boolean
  /** It comes without its object, which is at the path `related` of the provider's API. */
  isThin: boolean
  related: string | null
}

type Facts = Pick<BillingEvent, 'id' | 'type' | 'created' | 'kind' | 'ignored' | 'object'>

/** An event that comes with its object. */
export function eventOf(facts: Facts): BillingEvent {
  const objectId = idOf(facts.object)
  const isState = facts.kind === 'subscription' && objectId !== null
  return { ...facts, objectId, isState, isThin: false, related: null }
}

/** The kind of a type in the table of a provider; null if it is not processed. */
export function kindIn(kinds: Readonly<Record<string, EventKind>>, type: string): EventKind | null {
  return Object.hasOwn(kinds, type) ? (kinds[type] ?? null) : null
}

/** The type as the table of a provider has it: those of thin events, and of some formats, have a prefix. */
export function typeIn(kinds: Readonly<Record<string, EventKind>>, type: string): string {
  if (Object.hasOwn(kinds, type)) return type
  return Object.keys(kinds).find((one) => type.endsWith(`.${one}`)) ?? type
}

/** Why an event is ignored by its kind or its customer. */
export function ignoredBy(kind: EventKind | null, customer: unknown): IgnoredReason | null {
  if (kind === null) return 'kind'
  return customer === null || customer === undefined ? 'guest' : null
}

// Contract 5. Excludes what PostgreSQL cannot store as sent: control characters, lone surrogates.
const printable = /^[^\p{C}\p{Zl}\p{Zp}]{1,255}$/u

/** Whether a text can be the id or the type of an event. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && printable.test(value)
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes verified bytes; null if they are not a JSON object in UTF-8. */
export function decodeObject(body: Uint8Array): JsonObject | null {
  try {
    return parseJsonObject(utf8.decode(body))
  } catch {
    return null
  }
}

export function objectIn(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** The id of an object of the provider; null if it has none. */
export function idOf({ id }: JsonObject): string | null {
  return typeof id === 'string' && id !== '' && id.length <= 255 ? id : null
}

/** Unix seconds of an RFC 3339 time; null for anything else. */
export function secondsOf(value: unknown): number | null {
  const time = typeof value === 'string' ? Date.parse(value) / 1_000 : Number.NaN
  return Number.isFinite(time) ? time : null
}
