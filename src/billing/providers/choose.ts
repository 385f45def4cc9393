import { paddle } from './paddle.ts'
import type { BillingProvider, ProviderOptions } from './provider.ts'
import { signed } from './signed.ts'
import { standard } from './standard.ts'
import { stripe } from './stripe.ts'

/** The provider that the settings name. */
export function chooseProvider(
  name: BillingProvider['name'],
  options: ProviderOptions,
): BillingProvider {
  switch (name) {
    case 'signed':
      return signed
    case 'stripe':
      return stripe(options)
    case 'paddle':
      return paddle
    case 'standard':
      return standard
  }
}
