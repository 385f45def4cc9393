import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { type Provider, randomPending } from '#src/auth/oidc/client.ts'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import type { Queryable } from '#src/db/system-database.ts'
import type { NewSignInState, Purpose } from './state.ts'

export type StartRequest = {
  provider: Provider
  redirectUri: string
  /** Path that the browser goes to afterwards; null for the configured one. */
  returnTo: string | null
  clientInfo: ClientInfo
}

/**
 * Prepares a sign-in, link or re-authentication at the provider. A re-authentication sends
 * `max_age=0`, so that the provider authenticates the user again and returns `auth_time` (OpenID
 * Connect Core 3.1.2.1).
 * @returns the URL to redirect the browser to, once `state` is stored
 * @throws ProviderUnavailable
 */
export async function prepareSignIn(
  systemDb: Queryable,
  { provider, redirectUri, returnTo, clientInfo }: StartRequest,
  { kind: purpose, userId }: Purpose,
): Promise<{ url: URL; state: NewSignInState }> {
  const { name } = provider.config
  const pending = randomPending()
  const extras = purpose === 'reauthenticate' ? { max_age: '0' } : {}
  try {
    const url = await provider.authorizationUrl(pending, redirectUri, extras)
    return { url, state: { ...pending, provider: name, purpose, returnTo } }
  } catch (error) {
    if (error instanceof ProviderUnavailable) {
      const unavailable = { outcome: 'unavailable', reason: error.reason, provider: name } as const
      await recordAudit(systemDb, { action: purpose, ...unavailable, userId }, clientInfo)
    }
    throw error
  }
}
