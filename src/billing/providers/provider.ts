import type { JsonObject } from '#src/runtime/json.ts'
import type { Effect } from '../effect.ts'
import type { BillingEvent, EventKind } from '../event.ts'
import type { Verdict } from '../signature.ts'

export type WebhookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** A billing provider: how it signs, what it sends, and what that means. */
export type BillingProvider = {
  readonly name: 'signed' | 'stripe' | 'paddle' | 'standard'
  /** The types of events that are processed. */
  readonly kinds: Readonly<Record<string, EventKind>>
  /** A subscription that has ended never begins again: who comes back buys another one. */
  readonly endsAreFinal: boolean
  /**
   * Verifies the bytes as received, before anything is parsed. Only the provider's own headers are
   * read.
   * @param now Unix seconds
   */
  verify(
    headers: WebhookHeaders,
    body: Uint8Array,
    secrets: readonly string[],
    now: number,
  ): Verdict
  /**
   * Parses verified bytes.
   * @param headers of the request; a stored event has its id as `webhook-id`
   * @returns null if they are not an event of this provider
   */
  parse(headers: WebhookHeaders, body: Uint8Array): BillingEvent | null
  /**
   * Decides what an event does, from its object alone.
   * @param object the object of the event, or its present state
   * @throws PoisonEvent if the object lacks a field that the event needs
   */
  effectOf(event: BillingEvent, object: JsonObject): Effect
}

/** What the settings say about every provider. */
export type ProviderOptions = {
  /** In production events of a test are ignored. */
  production: boolean
  /** The origin of this installation, which marks the customers that it creates. */
  baseUrl: string
}

/** A header as text; the empty text if it is absent. HTTP joins repeated ones with white space. */
export function headerOf(headers: WebhookHeaders, name: string): string {
  const value = headers[name]
  return typeof value === 'string' ? value : (value?.join(', ') ?? '')
}
