import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { acceptInvitations } from '#src/auth/members/invitations.ts'
import type { TokenSet } from '#src/auth/oidc/token-endpoint.ts'
import { storeGrant } from '#src/auth/provider-tokens/store.ts'
import {
  createSession,
  endSessionRow,
  lockSession,
  renewAuthentication,
  renewSession,
} from '#src/auth/sessions/sessions.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { isUniqueViolation } from '#src/db/errors.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import {
  decideIdentity,
  type IdentityDecision,
  type IdentityRefusal,
  type Intent,
  type ProvenIdentity,
} from './account-linking.ts'
import { moveSignInStates, type SignInState } from './state.ts'
import { addIdentity, createUser, enterTenant, lockUser, lookUpIdentity } from './users.ts'

export type SignIn = {
  identity: ProvenIdentity
  providerSession: string | null
  /** What it was started for and in which session of the browser. */
  attempt: Pick<SignInState, 'purpose' | 'sessionId' | 'ageSeconds'>
  /** The id the browser's session has afterwards. */
  newCookieId: string
  absoluteSeconds: number
  clientInfo: ClientInfo
  /** Unix seconds by the program's clock. */
  nowSeconds: number
  /** The provider's tokens, where they are to be kept. */
  grant: { tokens: TokenSet & { scope: string }; keys: EncryptionKeys } | null
}

export type SignInOutcome =
  | { outcome: 'signed-in'; userId: number }
  | { outcome: 'refused'; reason: IdentityRefusal }

type Allowed = Exclude<IdentityDecision, { kind: 'refuse' }>
type BrowserSession = Awaited<ReturnType<typeof lockSession>>

const statementTimeoutMs = statementTimeoutsMs.byKey

/**
 * Carries out what the provider's answer means in one transaction: identity, invitations, session
 * and the audit entry stand or fall together. Two first sign-ins of one person at once: the loser's
 * transaction is run again and finds what the winner made.
 */
export async function completeSignIn(
  systemDb: SystemDatabase,
  signIn: SignIn,
): Promise<SignInOutcome> {
  const run = () =>
    systemDb.transaction({ statementTimeoutMs }, (connection) => carryOut(connection, signIn))
  try {
    return await run()
  } catch (error) {
    if (isUniqueViolation(error)) return run()
    throw error
  }
}

async function carryOut(connection: Queryable, signIn: SignIn): Promise<SignInOutcome> {
  const { identity, attempt, clientInfo } = signIn
  const { provider } = identity
  const { kind: action, userId: starter } = attempt.purpose
  const session = await lockStarter(connection, attempt)
  const known = await lookUpIdentity(connection, identity)
  const decision = decideIdentity(identity, intentOf(signIn, session), known)
  if (decision.kind === 'refuse') {
    const { reason } = decision
    const tenantId = starter !== null && session?.userId === starter ? session.tenantId : null
    const refused = { action, outcome: 'refused', reason, provider, userId: starter } as const
    await recordAudit(connection, { ...refused, tenantId }, clientInfo)
    return { outcome: 'refused', reason }
  }
  const userId = await settleIdentity(connection, identity, decision)
  if (signIn.grant !== null) {
    const { keys, tokens } = signIn.grant
    await storeGrant(connection, keys, { ...identity, userId }, tokens)
  }
  if (identity.email !== null && identity.emailTrusted) {
    await acceptInvitations(connection, identity.email, userId, clientInfo)
  }
  const tenantId = await settleSession(connection, signIn, decision, userId, session)
  const done = { action, outcome: 'done', reason: reasonOf(decision), provider } as const
  await recordAudit(connection, { ...done, userId, tenantId }, clientInfo)
  return { outcome: 'signed-in', userId }
}

/**
 * The session that started a link or re-authentication. Locks are taken in one order everywhere,
 * user or membership before session, so that nobody waits in a circle.
 */
async function lockStarter(
  connection: Queryable,
  { purpose, sessionId }: SignIn['attempt'],
): Promise<BrowserSession> {
  if (purpose.kind === 'sign-in') return null
  await lockUser(connection, purpose.userId)
  return lockSession(connection, sessionId)
}

function intentOf({ attempt, nowSeconds }: SignIn, session: BrowserSession): Intent {
  const { kind, userId } = attempt.purpose
  if (kind === 'sign-in') return { kind }
  const startedAt = nowSeconds - attempt.ageSeconds
  return { kind, userId, sessionUserId: session?.userId ?? null, startedAt }
}

async function settleIdentity(
  connection: Queryable,
  identity: ProvenIdentity,
  decision: Allowed,
): Promise<number> {
  const userId =
    decision.kind === 'create'
      ? await createUser(connection, identity, decision.emailVerified)
      : decision.userId
  const isNew =
    decision.kind === 'create' ||
    decision.kind === 'link' ||
    (decision.kind === 'link-own' && !decision.known)
  if (isNew) await addIdentity(connection, identity, userId)
  return userId
}

/**
 * A sign-in starts a session of its own and ends the one the browser came with. A link or
 * re-authentication goes on in the session that started it, under a new id.
 * @returns the session's tenant
 */
async function settleSession(
  connection: Queryable,
  signIn: SignIn,
  decision: Allowed,
  userId: number,
  session: BrowserSession,
): Promise<string | null> {
  const { attempt, identity, newCookieId, providerSession, absoluteSeconds, clientInfo } = signIn
  const { provider } = identity
  if (decision.kind === 'link-own' || decision.kind === 'reauthenticate') {
    await renewSession(connection, attempt.sessionId, newCookieId)
    if (decision.kind === 'reauthenticate') {
      const proof = { provider, providerSession, absoluteSeconds }
      await renewAuthentication(connection, attempt.sessionId, proof)
    }
    return session?.tenantId ?? null
  }
  const tenantId = await enterTenant(connection, userId)
  await createSession(connection, {
    cookieId: newCookieId,
    userId,
    tenantId,
    provider,
    providerSession,
    absoluteSeconds,
    clientInfo,
  })
  await moveSignInStates(connection, attempt.sessionId, newCookieId)
  await endSessionRow(connection, attempt.sessionId)
  return tenantId
}

function reasonOf(decision: Allowed): string {
  if (decision.kind !== 'link-own') return decision.kind
  return decision.known ? 'known' : 'explicit'
}
