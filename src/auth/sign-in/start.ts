import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { type Provider, randomPending } from '#src/auth/oidc/client.ts'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { type Purpose, storeOwnSignInState, storeSignInState } from './state.ts'

export type Start = {
  provider: Provider
  redirectUri: string
  clientInfo: ClientInfo
}

/**
 * Starts a sign-in in the browser's session, or in one of its own that begins with it.
 * @returns where to send the browser
 * @throws ProviderUnavailable
 */
export async function startSignIn(
  systemDb: Queryable,
  start: Start,
  cookieId: string,
): Promise<URL> {
  const pending = randomPending()
  const url = await authorizationUrl(systemDb, start, { kind: 'sign-in', userId: null }, pending)
  const attempt = { provider: start.provider.config.name, ...pending }
  await storeSignInState(systemDb, cookieId, attempt, start.clientInfo)
  return url
}

/**
 * Starts a link or re-authentication in the session of the person it is for. For the latter the
 * provider is asked to authenticate them anew (OpenID Connect Core 3.1.2.1, `max_age`) and to say
 * when that was.
 * @returns where to send the browser, or null when the session has ended meanwhile
 * @throws ProviderUnavailable
 */
export async function startOwn(
  systemDb: Queryable,
  start: Start,
  sessionId: string,
  purpose: Exclude<Purpose, { kind: 'sign-in' }>,
): Promise<URL | null> {
  const pending = randomPending()
  const url = await authorizationUrl(systemDb, start, purpose, pending)
  const attempt = { provider: start.provider.config.name, ...pending, purpose }
  return (await storeOwnSignInState(systemDb, sessionId, attempt)) ? url : null
}

async function authorizationUrl(
  systemDb: Queryable,
  { provider, redirectUri, clientInfo }: Start,
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
