import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { type Provider, randomPending } from '#src/auth/oidc/client.ts'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { type Purpose, storeInSession, storeSignInState } from './state.ts'

export type StartRequest = {
  provider: Provider
  redirectUri: string
  clientInfo: ClientInfo
}

/**
 * Starts a sign-in in the browser's session; a browser without one gets an anonymous session.
 * @returns the URL to redirect the browser to
 * @throws ProviderUnavailable
 */
export async function startSignIn(
  systemDb: Queryable,
  start: StartRequest,
  cookieId: string,
): Promise<URL> {
  const pending = randomPending()
  const url = await authorizationUrl(systemDb, start, { kind: 'sign-in', userId: null }, pending)
  const state = { provider: start.provider.config.name, ...pending }
  await storeSignInState(systemDb, cookieId, state, start.clientInfo)
  return url
}

/**
 * Starts a link or re-authentication in the user's session. A re-authentication sends `max_age=0`,
 * so that the provider authenticates the user again and returns `auth_time` (OpenID Connect Core
 * 3.1.2.1).
 * @returns the URL to redirect the browser to; null if the session has ended
 * @throws ProviderUnavailable
 */
export async function startInSession(
  systemDb: Queryable,
  start: StartRequest,
  sessionId: string,
  purpose: Exclude<Purpose, { kind: 'sign-in' }>,
): Promise<URL | null> {
  const pending = randomPending()
  const url = await authorizationUrl(systemDb, start, purpose, pending)
  const state = { provider: start.provider.config.name, ...pending, purpose }
  return (await storeInSession(systemDb, sessionId, state)) ? url : null
}

async function authorizationUrl(
  systemDb: Queryable,
  { provider, redirectUri, clientInfo }: StartRequest,
  { kind: action, userId }: Purpose,
  pending: Parameters<Provider['authorizationUrl']>[0],
): Promise<URL> {
  const extras = action === 'reauthenticate' ? { max_age: '0' } : {}
  try {
    return await provider.authorizationUrl(pending, redirectUri, extras)
  } catch (error) {
    if (error instanceof ProviderUnavailable) {
      const { name } = provider.config
      const entry = {
        action,
        outcome: 'unavailable',
        reason: error.reason,
        provider: name,
      } as const
      await recordAudit(systemDb, { ...entry, userId }, clientInfo)
    }
    throw error
  }
}
