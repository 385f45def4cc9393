import { randomId } from '#src/crypto/digest.ts'
import type { EncryptionKeys } from '#src/crypto/sealed.ts'
import type { IdentityPlane, Queryable } from '#src/db/identity-plane.ts'
import { moveAttempts } from './attempts.ts'
import { type Device, recordAudit } from './audit.ts'
import { decideIdentity, type Known, type ProvenIdentity } from './claims.ts'
import { storeGrant } from './provider-grants.ts'
import { createSession, endSession } from './sessions.ts'
import type { TokenSet } from './token-exchange.ts'

export type SignIn = {
  identity: ProvenIdentity
  providerSession: string | null
  /** The session the browser came with; it ends, its other pending sign-ins move on. */
  oldCookieId: string
  newCookieId: string
  absoluteSeconds: number
  device: Device
  /** The provider's tokens, where they are to be kept. */
  grant: { tokens: TokenSet & { scope: string }; keys: EncryptionKeys } | null
}

export type SignInOutcome =
  | { outcome: 'signed-in'; userId: number }
  | { outcome: 'refused'; reason: 'email-known' }

const statementTimeoutMs = 2_000
const uniqueViolation = '23505'

/**
 * Carries out a sign-in in one transaction: identity, session, the end of the old session and the
 * audit entry stand or fall together. Two first sign-ins of one person at once: the loser's
 * transaction is run again and finds what the winner made.
 */
export async function completeSignIn(plane: IdentityPlane, signIn: SignIn): Promise<SignInOutcome> {
  const run = () =>
    plane.transaction({ statementTimeoutMs }, (connection) => carryOut(connection, signIn))
  try {
    return await run()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === uniqueViolation) return run()
    throw error
  }
}

async function carryOut(connection: Queryable, signIn: SignIn): Promise<SignInOutcome> {
  const { identity, device } = signIn
  const decision = decideIdentity(identity, await lookUp(connection, identity))
  if (decision.kind === 'refuse') {
    await recordAudit(
      connection,
      {
        action: 'sign-in',
        outcome: 'refused',
        reason: decision.reason,
        provider: identity.provider,
      },
      device,
    )
    return { outcome: 'refused', reason: decision.reason }
  }
  const userId =
    decision.kind === 'create'
      ? await createUser(connection, identity, decision.emailVerified)
      : decision.userId
  if (decision.kind !== 'sign-in') await addIdentity(connection, identity, userId)
  if (signIn.grant !== null) {
    const { keys, tokens } = signIn.grant
    await storeGrant(connection, keys, { ...identity, userId }, tokens)
  }
  const tenantId = await lastActiveTenant(connection, userId)
  await createSession(connection, {
    cookieId: signIn.newCookieId,
    userId,
    tenantId,
    provider: identity.provider,
    providerSession: signIn.providerSession,
    absoluteSeconds: signIn.absoluteSeconds,
    device,
  })
  await moveAttempts(connection, signIn.oldCookieId, signIn.newCookieId)
  await endSession(connection, signIn.oldCookieId)
  await recordAudit(
    connection,
    {
      action: 'sign-in',
      outcome: 'done',
      reason: decision.kind,
      provider: identity.provider,
      userId,
      tenantId,
    },
    device,
  )
  return { outcome: 'signed-in', userId }
}

async function lookUp(connection: Queryable, identity: ProvenIdentity): Promise<Known> {
  const { rows } = await connection.query<{ user_id: string }>({
    text: 'SELECT user_id FROM oauth_identities WHERE provider = $1 AND provider_user_id = $2',
    values: [identity.provider, identity.subject],
  })
  const [row] = rows
  if (row !== undefined) return { identityUserId: Number(row.user_id), sameAddress: [] }
  if (identity.email === null) return { identityUserId: null, sameAddress: [] }
  const users = await connection.query<{ id: string; email_verified: boolean }>({
    text: `SELECT id, email_verified FROM users
           WHERE lower(email COLLATE "C") = lower($1 COLLATE "C") LIMIT 2`,
    values: [identity.email],
  })
  return {
    identityUserId: null,
    sameAddress: users.rows.map((user) => ({
      userId: Number(user.id),
      emailVerified: user.email_verified,
    })),
  }
}

/** A new user is admin of a tenant of their own (contract 8). */
async function createUser(
  connection: Queryable,
  identity: ProvenIdentity,
  emailVerified: boolean,
): Promise<number> {
  const tenantId = randomId()
  await connection.query({
    text: `SELECT set_config('app.tenant_id', $1, true)`,
    values: [tenantId],
  })
  await connection.query({
    text: 'INSERT INTO tenants (id, name) VALUES ($1, $2)',
    values: [tenantId, (identity.name ?? identity.email ?? 'Personal').slice(0, 200)],
  })
  const { rows } = await connection.query<{ id: string }>({
    text: `
      WITH created AS (
        INSERT INTO users (email, email_verified, own_tenant_id) VALUES ($1, $2, $3) RETURNING id
      )
      INSERT INTO memberships (tenant_id, user_id, role) SELECT $3, id, 'admin' FROM created
      RETURNING user_id AS id`,
    values: [identity.email, emailVerified, tenantId],
  })
  return Number(rows[0]?.id)
}

async function addIdentity(
  connection: Queryable,
  identity: ProvenIdentity,
  userId: number,
): Promise<void> {
  await connection.query({
    text: `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer)
           VALUES ($1, $2, $3, $4)`,
    values: [identity.provider, identity.subject, userId, identity.issuer],
  })
}

async function lastActiveTenant(connection: Queryable, userId: number): Promise<string | null> {
  const { rows } = await connection.query<{ tenant_id: string }>({
    text: `SELECT tenant_id FROM memberships WHERE user_id = $1
           ORDER BY last_active_at DESC, tenant_id LIMIT 1`,
    values: [userId],
  })
  return rows[0]?.tenant_id ?? null
}
