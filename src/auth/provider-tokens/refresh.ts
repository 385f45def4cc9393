import type { PgBoss } from 'pg-boss'
import { recordAudit } from '#src/audit/audit.ts'
import type { Provider } from '#src/auth/oidc/client.ts'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import type {
  GrantEnd,
  RefreshAnswer,
  SendRefresh,
  TokenSet,
} from '#src/auth/oidc/token-endpoint.ts'
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
  /** Told of each step as it is done; a test ends the process here. */
  reached?: (step: RefreshStep) => void
}

export type RefreshStep = 'locked' | 'marked' | 'answered' | 'stored'

/** `settled`: the row says what came of it. */
export type RefreshOutcome = 'settled' | { kind: 'unavailable'; retryAfterSeconds: number }

const statementTimeoutMs = statementTimeoutsMs.byKey
const nowhere = { userAgent: null, ip: null }
const unconfiguredRetrySeconds = 300

/**
 * Refreshes one grant; the caller holds its lock. The attempt is committed before the token is
 * sent, so whoever finds it without a holder knows that the token may be spent.
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
  if (!(await markRefreshStarted(systemDb, key, grant.generation, attempt))) return 'settled'
  reached?.('marked')
  const answer = await send(refreshToken, key.subject)
  reached?.('answered')
  return carryOut(deps, key, grant, attempt, answer)
}

/** Nothing was sent yet when the provider is found to be away. */
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
  answer: RefreshAnswer,
): Promise<RefreshOutcome> {
  if (answer.kind === 'ended') return end(deps, key, grant, attempt, answer.reason)
  if (answer.kind === 'untouched') {
    await clearRefreshStarted(deps.systemDb, key, attempt)
    return { kind: 'unavailable', retryAfterSeconds: answer.retryAfterSeconds }
  }
  await keep(deps, key, grant, attempt, answer.tokens)
  deps.reached?.('stored')
  return 'settled'
}

async function keep(
  { systemDb, keys, queue }: RefreshDeps,
  key: IdentityKey,
  { userId, scope }: Grant,
  attempt: string,
  tokens: TokenSet,
): Promise<void> {
  const granted = { ...tokens, scope: narrowed(scope, tokens.scope) }
  await systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const stored = await storeRefreshed(connection, keys, key, attempt, granted)
    if (!stored && tokens.refreshToken !== null) {
      await retireLateToken(connection, queue, keys, { ...key, userId }, tokens.refreshToken)
    }
    const reason = stored ? 'refreshed' : 'refreshed-late'
    const { provider } = key
    const entry = { action: 'refresh-tokens', outcome: 'done', reason, provider, userId } as const
    await recordAudit(connection, entry, nowhere)
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
    await recordAudit(connection, entry, nowhere)
  })
  return 'settled'
}

/** A refresh cannot grant more than there was (RFC 6749, 6). */
function narrowed(granted: string, answered: string | null): string {
  if (answered === null) return granted
  const before = granted.split(' ')
  return answered
    .split(' ')
    .filter((scope) => before.includes(scope))
    .join(' ')
}
