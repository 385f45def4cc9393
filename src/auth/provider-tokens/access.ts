import { type EncryptionKeys, unseal } from '#src/crypto/encryption.ts'
import { lockUntilCommit } from '#src/db/advisory-lock.ts'
import { isDatabaseUnavailable } from '#src/db/errors.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { type RefreshDeps, refreshGrant } from './refresh.ts'
import { findGrant, type Grant, type IdentityKey, tokenBinding } from './store.ts'

type AccessToken =
  | {
      kind: 'token'
      accessToken: string
      /** The granted scope, space-separated. */
      scope: string
      expiresAt: Date | null
    }
  /** No token is stored for this identity. */
  | { kind: 'none' }
  /** The user has to sign in again through this provider. */
  | { kind: 'needs-sign-in' }
  /** The provider or the database is not available; the stored grant remains valid. */
  | { kind: 'unavailable'; retryAfterSeconds: number }

export type ProviderTokens = {
  /**
   * An access token for the provider's API, refreshed if it expires within a minute, or if half of a
   * shorter lifetime is over. A token that was just refreshed is returned however short it lives.
   */
  accessToken(key: IdentityKey): Promise<AccessToken>
}

export type ProviderTokensDeps = RefreshDeps & {
  keys: EncryptionKeys
  /** For single statements. */
  systemDb: SystemDatabase
  /**
   * For connections that are held during a refresh, so that a slow provider exhausts no other pool.
   */
  locks: SystemDatabase
}

export type AccessDecision = 'return' | 'refresh' | 'needs-sign-in' | 'lost'

const retrySeconds = 5

/**
 * Decides what to do with a grant. A refresh attempt without a lock holder is left from a process
 * that ended between sending and storing, so its refresh token may have been used.
 * @param staleGeneration the generation that was to be refreshed: a newer one is returned, because
 *   another refresh would bring no longer-lived token
 */
export function decideAccess(grant: Grant, staleGeneration: number): AccessDecision {
  if (grant.status === 'needs-sign-in') return 'needs-sign-in'
  if (grant.fresh || grant.generation > staleGeneration) return 'return'
  if (grant.refreshAttempt !== null) return 'lost'
  return grant.refreshToken === null ? 'needs-sign-in' : 'refresh'
}

/**
 * Access tokens for the providers' APIs. Of all concurrent requests in all processes one refreshes;
 * the others wait for the lock and read the stored token.
 */
export function createProviderTokens(deps: ProviderTokensDeps): ProviderTokens {
  const pendingRefreshes = new Map<string, Promise<AccessToken>>()

  return {
    async accessToken(key) {
      const stored = await readStored(deps, key)
      if (stored.kind !== 'stale') return stored
      // All requests of this process for one identity share one connection.
      const name = JSON.stringify([key.provider, key.subject])
      const pending = pendingRefreshes.get(name) ?? refresh(deps, key, stored.generation)
      pendingRefreshes.set(name, pending)
      return pending.finally(() => pendingRefreshes.delete(name))
    },
  }
}

/** The stored token is to be refreshed. */
type Stale = { kind: 'stale'; generation: number }

/** @param staleGeneration a newer token counts as fresh, however short it lives */
async function readStored(
  { systemDb, keys }: ProviderTokensDeps,
  key: IdentityKey,
  staleGeneration = Number.POSITIVE_INFINITY,
): Promise<AccessToken | Stale> {
  const grant = await findGrant(systemDb, key)
  if (grant === null) return { kind: 'none' }
  const { scope, expiresAt, generation } = grant
  const decision = decideAccess(grant, staleGeneration)
  if (decision === 'needs-sign-in') return { kind: 'needs-sign-in' }
  if (decision !== 'return') return { kind: 'stale', generation }
  const accessToken = unseal(keys, grant.accessToken, tokenBinding(key, 'access_token'))
  return { kind: 'token', accessToken, scope, expiresAt }
}

async function refresh(
  deps: ProviderTokensDeps,
  key: IdentityKey,
  staleGeneration: number,
): Promise<AccessToken> {
  const outcome = await withGrantLock(deps.locks, key, async () => {
    const grant = await findGrant(deps.systemDb, key)
    if (grant === null) return 'stored'
    const decision = decideAccess(grant, staleGeneration)
    if (decision === 'return' || decision === 'needs-sign-in') return 'stored'
    return refreshGrant(deps, key, grant)
  })
  if (outcome === 'busy') return { kind: 'unavailable', retryAfterSeconds: retrySeconds }
  if (typeof outcome === 'object') return outcome
  const stored = await readStored(deps, key, staleGeneration)
  if (stored.kind !== 'stale') return stored
  return { kind: 'unavailable', retryAfterSeconds: retrySeconds }
}

const waitMs = statementTimeoutsMs.refreshLock
const idleMs = 20_000

/**
 * Runs `work` while no other process refreshes this grant. The advisory lock belongs to a
 * transaction: it ends with the process or the connection, and it works behind PgBouncer. The row
 * itself is not locked, so a sign-in or sign-out never waits for a provider.
 * @returns `busy` if the lock was not available in time; then `work` has not run
 */
async function withGrantLock<T>(
  locks: SystemDatabase,
  key: IdentityKey,
  work: () => Promise<T>,
): Promise<T | 'busy'> {
  let done: { result: T } | null = null
  try {
    return await locks.transaction({ statementTimeoutMs: waitMs }, async (connection) => {
      await connection.sql`
        SELECT set_config('lock_timeout', ${String(waitMs)}, true),
               set_config('idle_in_transaction_session_timeout', ${String(idleMs)}, true)`
      await lockUntilCommit(connection, 'provider-grant', key.provider, key.subject)
      done = { result: await work() }
      return done.result
    })
  } catch (error) {
    return resultAfter<T>(done, error)
  }
}

/** The result counts even if the connection breaks after the work: nothing was written on it. */
function resultAfter<T>(done: { result: T } | null, error: unknown): T | 'busy' {
  if (done !== null) return done.result
  if (isDatabaseUnavailable(error)) return 'busy'
  throw error
}
