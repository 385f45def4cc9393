import { type EncryptionKeys, unseal } from '#src/crypto/encryption.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { type RefreshDeps, refreshGrant } from './refresh.ts'
import { findGrant, type Grant, type IdentityKey, tokenBinding } from './store.ts'

type AccessToken =
  | {
      kind: 'token'
      accessToken: string
      /** Space-separated: what it is granted for. */
      scope: string
      expiresAt: Date | null
      /** Names this token to `rejectedGeneration` when the provider's API refuses it. */
      generation: number
    }
  /** Nothing is kept for this identity. */
  | { kind: 'none' }
  /** Only the person can mend it, by signing in through this provider. */
  | { kind: 'needs-sign-in' }
  /** The provider or the database cannot help now; what is kept is still good. */
  | { kind: 'unavailable'; retryAfterSeconds: number }

export type ProviderTokens = {
  /**
   * A usable access token for the provider's API, refreshed when needed.
   * @param rejectedGeneration the token of this generation was refused by the API: get a newer one
   */
  accessToken(key: IdentityKey, rejectedGeneration?: number): Promise<AccessToken>
}

export type ProviderTokensDeps = RefreshDeps & {
  keys: EncryptionKeys
  /** Short statements: reads and marks. */
  systemDb: SystemDatabase
  /** Connections that wait out a refresh. A pool of its own, so that a slow provider holds up nothing else. */
  locks: SystemDatabase
}

export type AccessDecision = 'hand-out' | 'refresh' | 'needs-sign-in' | 'lost'

const retrySeconds = 5

/**
 * What can be done with a grant. An attempt that is still noted while nobody holds the lock was
 * left by a crash between sending and storing: its token may be spent.
 */
export function decideAccess(grant: Grant, rejectedGeneration: number | null): AccessDecision {
  if (grant.status === 'needs-sign-in') return 'needs-sign-in'
  if (grant.fresh && grant.generation !== rejectedGeneration) return 'hand-out'
  if (grant.refreshAttempt !== null) return 'lost'
  return grant.refreshToken === null ? 'needs-sign-in' : 'refresh'
}

/**
 * The one way to a provider's API. Of all requests in all processes that need a new token one asks
 * the provider; the others wait for the lock and read what it stored.
 */
export function createProviderTokens(deps: ProviderTokensDeps): ProviderTokens {
  const underWay = new Map<string, Promise<AccessToken>>()

  return {
    async accessToken(key, rejectedGeneration) {
      const rejected = rejectedGeneration ?? null
      const known = await settle(deps, key, rejected)
      if (known !== 'ask') return known
      // One connection per grant and process, however many requests want it.
      const name = JSON.stringify([key.provider, key.subject])
      const running = underWay.get(name) ?? renew(deps, key, rejected)
      underWay.set(name, running)
      return running.finally(() => underWay.delete(name))
    },
  }
}

/** What needs no provider; `ask` for the rest. */
async function settle(
  { systemDb, keys }: ProviderTokensDeps,
  key: IdentityKey,
  rejected: number | null,
): Promise<AccessToken | 'ask'> {
  const grant = await findGrant(systemDb, key)
  if (grant === null) return { kind: 'none' }
  const decision = decideAccess(grant, rejected)
  if (decision === 'needs-sign-in') return { kind: 'needs-sign-in' }
  return decision === 'hand-out' ? handOut(keys, key, grant) : 'ask'
}

async function renew(
  deps: ProviderTokensDeps,
  key: IdentityKey,
  rejected: number | null,
): Promise<AccessToken> {
  const outcome = await withGrantLock(deps.locks, key, async () => {
    const grant = await findGrant(deps.systemDb, key)
    if (grant === null) return 'settled'
    const decision = decideAccess(grant, rejected)
    if (decision === 'hand-out' || decision === 'needs-sign-in') return 'settled'
    return refreshGrant(deps, key, grant)
  })
  if (outcome === 'busy') return { kind: 'unavailable', retryAfterSeconds: retrySeconds }
  if (typeof outcome === 'object') return outcome
  const settled = await settle(deps, key, null)
  return settled === 'ask' ? { kind: 'unavailable', retryAfterSeconds: retrySeconds } : settled
}

function handOut(keys: EncryptionKeys, key: IdentityKey, grant: Grant): AccessToken {
  const { scope, expiresAt, generation } = grant
  const accessToken = unseal(keys, grant.accessToken, tokenBinding(key, 'access_token'))
  return { kind: 'token', accessToken, scope, expiresAt, generation }
}

const waitMs = statementTimeoutsMs.refreshLock
const idleMs = 20_000
const unavailableCodes = ['55P03', '57014', '53300']

/**
 * Runs `work` while nobody else in any process refreshes this grant. The lock belongs to a
 * transaction, so it goes with its process, its backend or its connection, and PgBouncer keeps it.
 * It is no lock on the row: that can be read, replaced and removed meanwhile, so a sign-in or a
 * sign-out never waits for a provider.
 * @returns `busy` when the lock could not be had in time; then `work` has not run
 */
async function withGrantLock<T>(
  locks: SystemDatabase,
  { provider, subject }: IdentityKey,
  work: () => Promise<T>,
): Promise<T | 'busy'> {
  let done: { result: T } | null = null
  try {
    return await locks.transaction({ statementTimeoutMs: waitMs }, async (connection) => {
      await connection.query({
        text: `SET LOCAL lock_timeout = ${waitMs};
               SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`,
      })
      await connection.query({
        text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
        values: [JSON.stringify(['provider-grant', provider, subject])],
      })
      done = { result: await work() }
      return done.result
    })
  } catch (error) {
    return concluded<T>(done, error)
  }
}

/** A connection that broke after the work takes nothing of it away: nothing was written on it. */
function concluded<T>(done: { result: T } | null, error: unknown): T | 'busy' {
  if (done !== null) return done.result
  if (isBusy(error)) return 'busy'
  throw error
}

function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error) return unavailableCodes.some((code) => code === error.code)
  return error.message === 'timeout exceeded when trying to connect'
}
