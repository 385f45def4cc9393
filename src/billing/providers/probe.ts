import type { BillingApiConfig } from '#src/config/billing.ts'
import { isJsonObject } from '#src/runtime/json.ts'
import { createHttp, type HttpOptions } from './http.ts'
import type { BillingProvider } from './provider.ts'
import { stripeVersion } from './stripe-api.ts'

/** What a restricted key of Stripe may lack: without prices the plans to choose from have none. */
const furtherLists = ['refunds', 'prices'] as const

/** What the API says to a key. */
export type Probe = {
  status: number
  /** What was asked for: the first list that the API refuses. */
  list: 'events' | (typeof furtherLists)[number]
  /** The mode of its newest event; null if it has none, or does not say it. */
  mode: 'test' | 'live' | null
}

/**
 * Asks the API of the provider for one event, and Stripe for one refund and one price as well, which changes nothing.
 * @param now Unix seconds
 * @throws Error for operators if it does not answer
 */
export async function probeApi(
  provider: BillingProvider['name'],
  { url, key }: BillingApiConfig,
  now: number,
  options: Pick<HttpOptions, 'fetch' | 'timeoutMs'> = {},
): Promise<Probe> {
  const headers = { ...(provider === 'stripe' && { 'stripe-version': stripeVersion }) }
  const http = createHttp({ ...options, url, key, headers })
  const { status, body } = await http('GET', pathOf(provider, now), { maxBytes: 1_048_576 })
  const [event] = Array.isArray(body?.data) ? body.data : []
  const isLive = isJsonObject(event) ? event.livemode : undefined
  const mode = typeof isLive === 'boolean' ? (isLive ? 'live' : 'test') : null
  if (status !== 200 || provider !== 'stripe') return { status, list: 'events', mode }
  for (const list of furtherLists) {
    const { status } = await http('GET', `/${list}?limit=1`, { maxBytes: 1_048_576 })
    if (status !== 200) return { status, list, mode }
  }
  return { status, list: 'events', mode }
}

function pathOf(provider: BillingProvider['name'], now: number): string {
  if (provider === 'stripe') return '/events?limit=1'
  if (provider === 'paddle') return '/events?per_page=1'
  return `/events?created_from=${now - 1}&created_to=${now}&limit=1`
}
