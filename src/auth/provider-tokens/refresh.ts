import type { PgBoss } from 'pg-boss'
import { noClientInfo, recordAudit } from '#src/audit/audit.ts'
import type { Provider } from '#src/auth/oidc/client.ts'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import type {
  GrantEnd,
  RefreshResult,
  SendRefresh,
  TokenSet,
} from '#src/auth/oidc/tokens/token-endpoint.ts'
import { type EncryptionKeys, unseal } from '#src/crypto/encryption.ts'
import { randomId } from '#src/crypto/hash.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { retireLateToken } from './retire.ts'
import {
  clearRefreshStarted,
  endGrant,
  type Grant,
  type IdentityKey,
  markRefreshStarted,
  storeRefreshed,
  tokenBinding,
} from './store.ts'

export type RefreshDeps = {
  keys: EncryptionKeys
  systemDb: SystemDatabase
  queue: PgBoss
  providers: ReadonlyMap<string, Provider>
  /** Called after each step; tests end the process here. */
  reached?: (step: RefreshStep) => void
}

export type RefreshStep = 'locked' | 'marked' | 'answered' | 'stored'

/** `stored`: the outcome is in the row of the grant. */
export type RefreshOutcome = 'stored' | { kind: 'unavailable'; retryAfterSeconds: number }

const statementTimeoutMs = statementTimeoutsMs.byKey
const unconfiguredRetrySeconds = 300

/**
 * Refreshes one grant; the caller holds its lock. The attempt is committed before the token is
 * sent: if it is found later while the lock is free, the token may have been used.
 */
export async function refreshGrant(
  deps: RefreshDeps,
  key: IdentityKey,
  grant: Grant,
): Promise<RefreshOutcome> {
  const { systemDb, keys, providers, reached } = deps
  reached?.('locked')
  if (grant.refreshAttempt !== null) {
    return end(deps, key, grant, grant.refreshAttempt, 'answer-lost')
  }
  const provider = providers.get(key.provider)
  if (provider === undefined || grant.refreshToken === null) {
    return { kind: 'unavailable', retryAfterSeconds: unconfiguredRetrySeconds }
  }
  const refreshToken = unseal(keys, grant.refreshToken, tokenBinding(key, 'refresh_token'))
  const send = await open(provider)
  if (typeof send !== 'function') return send
  const attempt = randomId()
  if (!(await markRefreshStarted(systemDb, key, grant.generation, attempt))) return 'stored'
  reached?.('marked')
  const result = await send(refreshToken, key.subject)
  reached?.('answered')
  return carryOut(deps, key, grant, attempt, result)
}

/** If the provider cannot be reached, no token has been sent. */
async function open(provider: Provider): Promise<SendRefresh | RefreshOutcome> {
  try {
    return await provider.openRefresh()
  } catch (error) {
    if (!(error instanceof ProviderUnavailable)) throw error
    return { kind: 'unavailable', retryAfterSeconds: error.retryAfterSeconds }
  }
}

async function carryOut(
  deps: RefreshDeps,
  key: IdentityKey,
  grant: Grant,
  attempt: string,
  result: RefreshResult,
): Promise<RefreshOutcome> {
  if (result.kind === 'ended') return end(deps, key, grant, attempt, result.reason)
  if (result.kind === 'unused') {
    await clearRefreshStarted(deps.systemDb, key, attempt)
    return { kind: 'unavailable', retryAfterSeconds: result.retryAfterSeconds }
  }
  await store(deps, key, grant, attempt, result.tokens)
  deps.reached?.('stored')
  return 'stored'
}

async function store(
  { systemDb, keys, queue }: RefreshDeps,
  key: IdentityKey,
  { userId, scope }: Grant,
  attempt: string,
  tokens: TokenSet,
): Promise<void> {
  const granted = { ...tokens, scope: withinScope(scope, tokens.scope) }
  await systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const stored = await storeRefreshed(connection, keys, key, attempt, granted)
    if (!stored && tokens.refreshToken !== null) {
      await retireLateToken(connection, queue, keys, { ...key, userId }, tokens.refreshToken)
    }
    const reason = stored ? 'refreshed' : 'refreshed-late'
    const { provider } = key
    const entry = { action: 'refresh-tokens', outcome: 'done', reason, provider, userId } as const
    await recordAudit(connection, entry, noClientInfo)
  })
}

async function end(
  { systemDb }: RefreshDeps,
  key: IdentityKey,
  { userId }: Grant,
  attempt: string,
  reason: GrantEnd,
): Promise<RefreshOutcome> {
  await systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    if (!(await endGrant(connection, key, attempt, reason))) return
    const { provider } = key
    const entry = {
      action: 'refresh-tokens',
      outcome: 'refused',
      reason,
      provider,
      userId,
    } as const
    await recordAudit(connection, entry, noClientInfo)
  })
  return 'stored'
}

/** A refresh cannot grant a scope that was not granted before (RFC 6749, 6). */
function withinScope(granted: string, returned: string | null): string {
  if (returned === null) return granted
  const before = granted.split(' ')
  return returned
    .split(' ')
    .filter((scope) => before.includes(scope))
    .join(' ')
}
