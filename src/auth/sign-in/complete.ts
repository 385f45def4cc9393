import type { PgBoss } from 'pg-boss'
import { type ClientInfo, noClientInfo, recordAudit } from '#src/audit/audit.ts'
import type { MappedRole } from '#src/auth/oidc/mapped-role.ts'
import type { TokenSet } from '#src/auth/oidc/tokens/token-endpoint.ts'
import { storeGrant } from '#src/auth/provider-tokens/store.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { sha256 } from '#src/crypto/hash.ts'
import {
  isForeignKeyViolation,
  isRolledBackForAnother,
  isUniqueViolation,
  tryAgain,
} from '#src/db/errors.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import {
  decideAdmission,
  decideIdentity,
  type ExistingUsers,
  type IdentityDecision,
  type IdentityRefusal,
  type Intent,
  type SignUp,
  type VerifiedIdentity,
} from './account-linking.ts'
import { applyRole } from './role-map.ts'
import type { SignInState } from './state.ts'
import {
  createUser,
  enterIdentity,
  findAdmissionFacts,
  findExistingUsers,
  linkByAddress,
  linkIdentity,
  proveAddress,
  recordClaims,
} from './users.ts'

export type SignIn = {
  identity: VerifiedIdentity
  providerSession: string | null
  /** The role in a tenant that the provider decides; null if it decides none. */
  mappedRole: MappedRole | null
  /** The pending sign-in that the callback has taken. */
  state: Pick<SignInState, 'purpose' | 'ticket' | 'ageSeconds'>
  /** The cookie id of the browser's session afterwards. */
  newCookieId: string
  absoluteSeconds: number
  /** Who may get an account. */
  signUp: SignUp
  /** The secret of the link of an invitation that the browser has opened; null without one. */
  invitationLink: Uint8Array | null
  /** `provider:subject` of everyone who runs the service. */
  operators: ReadonlySet<string>
  clientInfo: ClientInfo
  /** Unix seconds by the program's clock. */
  nowSeconds: number
  /** The provider's tokens; null unless they are stored. */
  grant: { tokens: TokenSet & { scope: string }; keys: EncryptionKeys } | null
}

export type SignInOutcome =
  /** `isNew`: this sign-in has created the user and their tenant, and made them a member of no other. */
  | { outcome: 'signed-in'; userId: number; isNew: boolean }
  | { outcome: 'refused'; reason: IdentityRefusal }
  /** The browser's session ended while the provider was asked, and the pending sign-in with it. */
  | { outcome: 'gone' }

type Allowed = Exclude<IdentityDecision, { kind: 'refuse' }>

/**
 * The session that started a link or re-authentication; nulls if it has ended. `isTimeKnown`: its
 * provider said when the user authenticated.
 */
type StartingSession = { userId: number | null; tenantId: string | null; isTimeKnown: boolean }

const nobodyKnown: ExistingUsers = {
  identityUserId: null,
  identityIssuer: null,
  addressUserId: null,
  addressUserOperates: false,
  addressIsCurrent: false,
}

/** What the decision was based on changed before it was carried out. */
class Overtaken extends Error {}

const statementTimeoutMs = statementTimeoutsMs.byKey

/**
 * Completes a sign-in in one transaction, which the ticket of the pending sign-in opens: identity,
 * verified address, session and audit entry. Of two concurrent first sign-ins of one user the second
 * violates a unique key; its transaction runs again and finds the new user. A conflict that remains
 * is refused.
 */
export async function completeSignIn(
  systemDb: SystemDatabase,
  queue: PgBoss,
  signIn: SignIn,
): Promise<SignInOutcome> {
  try {
    return await tryAgain(
      () =>
        systemDb.transaction({ statementTimeoutMs }, (connection) =>
          carryOut(connection, queue, signIn),
        ),
      isConflict,
    )
  } catch (error) {
    if (!isConflict(error)) throw error
    return refuseConflict(systemDb, signIn)
  }
}

function isConflict(error: unknown): boolean {
  return (
    error instanceof Overtaken ||
    isUniqueViolation(error) ||
    isRolledBackForAnother(error) ||
    // The user was deleted meanwhile.
    isForeignKeyViolation(error)
  )
}

async function refuseConflict(
  systemDb: SystemDatabase,
  { identity, state, clientInfo }: SignIn,
): Promise<SignInOutcome> {
  const { kind: action, userId } = state.purpose
  const refused = { outcome: 'refused', reason: 'concurrent-change' } as const
  const { provider } = identity
  await recordAudit(systemDb, { action, ...refused, provider, userId }, clientInfo)
  return refused
}

async function carryOut(
  connection: Queryable,
  queue: PgBoss,
  signIn: SignIn,
): Promise<SignInOutcome> {
  const { identity, state, clientInfo } = signIn
  const { provider } = identity
  const { kind: action, userId: starter } = state.purpose
  const session = await enterAttempt(connection, state.ticket)
  if (session === null && starter === null) return { outcome: 'gone' }
  const existing =
    session === null
      ? nobodyKnown
      : await findExistingUsers(connection, queue, identity, signIn.operators)
  const decided = decideIdentity(identity, intentOf(signIn, session), existing)
  const decision = await admit(connection, signIn, decided)
  if (decision.kind === 'refuse') {
    const { reason } = decision
    const tenantId = starter !== null && session?.userId === starter ? session.tenantId : null
    const refused = { action, outcome: 'refused', reason, provider, userId: starter } as const
    await recordAudit(connection, { ...refused, tenantId }, clientInfo)
    return { outcome: 'refused', reason }
  }
  const userId = await enterUser(connection, signIn, decision)
  const joined = await applyMappedRole(connection, signIn, userId)
  if (signIn.grant !== null) {
    const { keys, tokens } = signIn.grant
    await storeGrant(connection, keys, { ...identity, userId }, tokens)
  }
  if (identity.email !== null && identity.emailTrusted) {
    await verifyAddress(connection, signIn, identity.email, decision)
  }
  await recordClaims(connection, identity)
  const tenantId = await startOrRenewSession(connection, signIn, decision, session)
  const done = { action, outcome: 'done', reason: reasonOf(decision), provider } as const
  await recordAudit(connection, { ...done, userId, tenantId }, clientInfo)
  return { outcome: 'signed-in', userId, isNew: decision.kind === 'create' && !joined }
}

/** The decision, or a refusal if the person may not be let in. */
async function admit(
  connection: Queryable,
  { identity, operators, signUp, invitationLink }: SignIn,
  decision: IdentityDecision,
): Promise<IdentityDecision> {
  if (signUp === 'open' || decision.kind !== 'create') return decision
  const facts = await findAdmissionFacts(connection, identity, invitationLink)
  const isOperator = operators.has(`${identity.provider}:${identity.subject}`)
  const reason = decideAdmission(identity, decision, facts, { signUp, isOperator })
  return reason === null ? decision : { kind: 'refuse', reason }
}

/**
 * Enters the completion and uses the ticket up. Locks the user and then the session that started a
 * link or re-authentication.
 * @returns null if the pending sign-in is gone
 */
async function enterAttempt(
  connection: Queryable,
  ticket: Uint8Array,
): Promise<StartingSession | null> {
  const [row] = await connection.sql<{
    session_user_id: string | null
    session_tenant_id: string | null
    session_time_known: boolean | null
  }>`
    SELECT session_user_id, session_tenant_id, session_time_known FROM enter_attempt(${ticket})`
  if (row === undefined) return null
  const { session_user_id: userId, session_tenant_id: tenantId } = row
  const isTimeKnown = row.session_time_known !== false
  return { userId: userId === null ? null : Number(userId), tenantId, isTimeKnown }
}

function intentOf({ state, nowSeconds }: SignIn, session: StartingSession | null): Intent {
  const { kind, userId } = state.purpose
  if (kind === 'sign-in') return { kind }
  const startedAt = nowSeconds - state.ageSeconds
  const isTimeKnown = session?.isTimeKnown ?? true
  return { kind, userId, sessionUserId: session?.userId ?? null, startedAt, isTimeKnown }
}

/**
 * Signs in as the user of the decision; creates them or adds the identity to them if needed.
 * @returns the id of the user
 */
async function enterUser(
  connection: Queryable,
  { identity, operators }: SignIn,
  decision: Allowed,
): Promise<number> {
  if (decision.kind === 'create') return createUser(connection, identity)
  const { kind, userId } = decision
  if (kind === 'link-own' && !decision.known) await linkIdentity(connection, identity)
  if (kind !== 'sign-in' && kind !== 'link') return userId
  const entered =
    kind === 'link'
      ? await linkByAddress(connection, identity, operators)
      : await enterIdentity(connection, identity)
  if (entered !== userId) throw new Overtaken()
  return userId
}

/** Only a sign-in says what groups a person has now. @returns whether they have joined a tenant */
async function applyMappedRole(
  connection: Queryable,
  { identity: { provider }, mappedRole, state, clientInfo }: SignIn,
  userId: number,
): Promise<boolean> {
  if (mappedRole === null || state.purpose.kind !== 'sign-in') return false
  return applyRole(connection, { userId, provider, ...mappedRole }, clientInfo)
}

/**
 * The address counts as verified from now on. Its former claimants read in their audit log that they
 * lost it, and nothing about the new holder.
 */
async function verifyAddress(
  connection: Queryable,
  { identity: { provider }, clientInfo }: SignIn,
  address: string,
  { kind }: Allowed,
): Promise<void> {
  const outcome = 'done'
  for (const { userId, verified } of await proveAddress(connection, address)) {
    if (!verified) {
      const lost = { action: 'address-remove', outcome, reason: 'verified-by-another' } as const
      await recordAudit(connection, { ...lost, userId }, noClientInfo)
    } else if (kind !== 'create') {
      const proven = { action: 'address-verify', outcome, reason: 'verified-by-provider' } as const
      await recordAudit(connection, { ...proven, provider, userId }, clientInfo)
    }
  }
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
  session: StartingSession | null,
): Promise<string | null> {
  const { identity, newCookieId, providerSession, absoluteSeconds, clientInfo } = signIn
  const cookieHash = sha256(newCookieId)
  const secondsAgo = authenticatedSecondsAgo(signIn)
  if (!['create', 'link', 'sign-in'].includes(decision.kind)) {
    await connection.sql`
      SELECT renew_session(${cookieHash}, ${identity.subject}, ${providerSession},
        ${absoluteSeconds}, ${secondsAgo})`
    return session?.tenantId ?? null
  }
  const [row] = await connection.sql<{ tenant_id: string | null }>`
    SELECT tenant_id FROM start_session(${cookieHash}, ${identity.subject}, ${providerSession},
      ${clientInfo.userAgent}, ${clientInfo.ip}, ${absoluteSeconds}, ${secondsAgo})`
  return row?.tenant_id ?? null
}

/**
 * Seconds since the user authenticated at the provider: a sign-in that the provider answers from its
 * own session is as old as that session. Null if the provider did not say. By the program's clock,
 * as all times of the provider are; the database subtracts it from its own.
 */
function authenticatedSecondsAgo({ identity, nowSeconds }: SignIn): number | null {
  const { authenticatedAt } = identity
  return authenticatedAt === null ? null : Math.max(0, nowSeconds - authenticatedAt)
}

function reasonOf(decision: Allowed): string {
  if (decision.kind !== 'link-own') return decision.kind
  return decision.known ? 'known' : 'explicit'
}
