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
  type VerifiedIdentity,
} from './account-linking.ts'
import { moveSignInStates, type SignInState } from './state.ts'
import { addIdentity, createUser, enterTenant, findExistingUsers, lockUser } from './users.ts'

export type SignIn = {
  identity: VerifiedIdentity
  providerSession: string | null
  /** The stored state of the sign-in, with its purpose and the browser's session. */
  state: Pick<SignInState, 'purpose' | 'sessionId' | 'ageSeconds'>
  /** The cookie id of the browser's session afterwards. */
  newCookieId: string
  absoluteSeconds: number
  clientInfo: ClientInfo
  /** Unix seconds by the program's clock. */
  nowSeconds: number
  /** The provider's tokens; null unless they are stored. */
  grant: { tokens: TokenSet & { scope: string }; keys: EncryptionKeys } | null
}

export type SignInOutcome =
  | { outcome: 'signed-in'; userId: number }
  | { outcome: 'refused'; reason: IdentityRefusal }

type Allowed = Exclude<IdentityDecision, { kind: 'refuse' }>
type BrowserSession = Awaited<ReturnType<typeof lockSession>>

const statementTimeoutMs = statementTimeoutsMs.byKey

/**
 * Completes a sign-in in one transaction: identity, invitations, session and audit entry. Of two
 * concurrent first sign-ins of one user the second violates a unique key; its transaction runs
 * again and finds the new user.
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
  const { identity, state, clientInfo } = signIn
  const { provider } = identity
  const { kind: action, userId: starter } = state.purpose
  const session = await lockStartingSession(connection, state)
  const existing = await findExistingUsers(connection, identity)
  const decision = decideIdentity(identity, intentOf(signIn, session), existing)
  if (decision.kind === 'refuse') {
    const { reason } = decision
    const tenantId = starter !== null && session?.userId === starter ? session.tenantId : null
    const refused = { action, outcome: 'refused', reason, provider, userId: starter } as const
    await recordAudit(connection, { ...refused, tenantId }, clientInfo)
    return { outcome: 'refused', reason }
  }
  const userId = await ensureUser(connection, identity, decision)
  if (signIn.grant !== null) {
    const { keys, tokens } = signIn.grant
    await storeGrant(connection, keys, { ...identity, userId }, tokens)
  }
  if (identity.email !== null && identity.emailTrusted) {
    await acceptInvitations(connection, identity.email, userId, clientInfo)
  }
  const tenantId = await startOrRenewSession(connection, signIn, decision, userId, session)
  const done = { action, outcome: 'done', reason: reasonOf(decision), provider } as const
  await recordAudit(connection, { ...done, userId, tenantId }, clientInfo)
  return { outcome: 'signed-in', userId }
}

/**
 * Locks the session that started a link or re-authentication. Locks are taken in the same order
 * everywhere, user or membership before session, to avoid deadlocks.
 */
async function lockStartingSession(
  connection: Queryable,
  { purpose, sessionId }: SignIn['state'],
): Promise<BrowserSession> {
  if (purpose.kind === 'sign-in') return null
  await lockUser(connection, purpose.userId)
  return lockSession(connection, sessionId)
}

function intentOf({ state, nowSeconds }: SignIn, session: BrowserSession): Intent {
  const { kind, userId } = state.purpose
  if (kind === 'sign-in') return { kind }
  const startedAt = nowSeconds - state.ageSeconds
  return { kind, userId, sessionUserId: session?.userId ?? null, startedAt }
}

/** Creates the user or adds the identity to them if needed. @returns the id of the user */
async function ensureUser(
  connection: Queryable,
  identity: VerifiedIdentity,
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
 * A sign-in creates a session and ends the browser's former one. A link or re-authentication gives
 * the session that started it a new cookie id.
 * @returns the session's tenant
 */
async function startOrRenewSession(
  connection: Queryable,
  signIn: SignIn,
  decision: Allowed,
  userId: number,
  session: BrowserSession,
): Promise<string | null> {
  const { state, identity, newCookieId, providerSession, absoluteSeconds, clientInfo } = signIn
  const { provider } = identity
  if (decision.kind === 'link-own' || decision.kind === 'reauthenticate') {
    await renewSession(connection, state.sessionId, newCookieId)
    if (decision.kind === 'reauthenticate') {
      const proof = { provider, providerSession, absoluteSeconds }
      await renewAuthentication(connection, state.sessionId, proof)
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
  await moveSignInStates(connection, state.sessionId, newCookieId)
  await endSessionRow(connection, state.sessionId)
  return tenantId
}

function reasonOf(decision: Allowed): string {
  if (decision.kind !== 'link-own') return decision.kind
  return decision.known ? 'known' : 'explicit'
}
