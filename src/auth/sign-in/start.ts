import type { ClientInfo } from '#src/audit/audit.ts'
import type { Refusals } from '#src/audit/refusals.ts'
import { type Provider, randomPending } from '#src/auth/oidc/client.ts'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import type { NewSignInState, Purpose } from './state.ts'

export type StartRequest = {
  provider: Provider
  redirectUri: string
  /** Path or URL that the browser goes to afterwards; null for the configured one. */
  returnTo: string | null
  clientInfo: ClientInfo
  /** Further parameters of the authorization request. */
  extras: Readonly<Record<string, string>>
}

/**
 * The parameters that ask when the user authenticated: with `max_age` a provider returns `auth_time`,
 * and authenticates users again whose authentication is older (OpenID Connect Core 3.1.2.1).
 * @param isTimeKnown false if the provider ignored that at sign-in. Then a re-authentication makes it
 *   ask the user at least which account to use, instead of answering from its own session.
 */
export function authenticationParameters(
  purpose: 'sign-in' | 'reauthenticate',
  { absoluteSeconds, isTimeKnown }: { absoluteSeconds: number; isTimeKnown: boolean },
): Record<string, string> {
  if (purpose === 'sign-in') return { max_age: String(absoluteSeconds) }
  return { max_age: '0', ...(!isTimeKnown && { prompt: 'select_account' }) }
}

/**
 * Prepares a sign-in, link or re-authentication at the provider.
 * @returns the URL to redirect the browser to, once `state` is stored
 * @throws ProviderUnavailable
 */
export async function prepareSignIn(
  refusals: Pick<Refusals, 'record'>,
  { provider, redirectUri, returnTo, clientInfo, extras }: StartRequest,
  { kind: purpose, userId }: Purpose,
): Promise<{ url: URL; state: NewSignInState }> {
  const { name } = provider.config
  const pending = randomPending()
  try {
    const url = await provider.authorizationUrl(pending, redirectUri, extras)
    return { url, state: { ...pending, provider: name, purpose, returnTo } }
  } catch (error) {
    if (error instanceof ProviderUnavailable) {
      const unavailable = { outcome: 'unavailable', reason: error.reason, provider: name } as const
      await refusals.record({ action: purpose, ...unavailable, userId }, clientInfo)
    }
    throw error
  }
}
