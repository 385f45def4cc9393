import type { BillingApiConfig } from '#src/config/billing.ts'
import { type CheckoutApi, createProviderApi, type ProviderApi } from '../provider-api.ts'
import { createPaddleApi } from './paddle-api.ts'
import type { BillingProvider } from './provider.ts'
import { createStripeApi } from './stripe-api.ts'

type Settings = {
  billing: { provider: BillingProvider['name']; api: BillingApiConfig | null }
  baseUrl: string
}

/** The API of the configured provider; null without one. */
export function chooseApi({ billing: { provider, api }, baseUrl }: Settings): ProviderApi | null {
  if (api === null) return null
  return chooseCheckout({ billing: { provider, api }, baseUrl }) ?? createProviderApi(api)
}

/** The same for providers where people pay; null for the others. */
export function chooseCheckout({
  billing: { provider, api },
  baseUrl,
}: Settings): (ProviderApi & CheckoutApi) | null {
  if (api === null) return null
  if (provider === 'stripe') return createStripeApi({ ...api, baseUrl })
  return provider === 'paddle' ? createPaddleApi({ ...api, baseUrl }) : null
}
