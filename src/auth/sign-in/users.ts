import { randomId } from '#src/crypto/hash.ts'
import { type Queryable, setTenant } from '#src/db/system-database.ts'
import type { ExistingUsers, VerifiedIdentity } from './account-linking.ts'

/** The user with this identity, or else the users with its address. */
export async function findExistingUsers(
  connection: Queryable,
  identity: VerifiedIdentity,
): Promise<ExistingUsers> {
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

/** Creates a user and a tenant of their own, of which they are admin (contract 8). */
export async function createUser(
  connection: Queryable,
  identity: VerifiedIdentity,
  emailVerified: boolean,
): Promise<number> {
  const tenantId = randomId()
  await setTenant(connection, tenantId)
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

/** Links the identity to the user. Fails with a unique violation if it is linked already. */
export async function addIdentity(
  connection: Queryable,
  identity: VerifiedIdentity,
  userId: number,
): Promise<void> {
  await connection.query({
    text: `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer)
           VALUES ($1, $2, $3, $4)`,
    values: [identity.provider, identity.subject, userId, identity.issuer],
  })
}

/**
 * Selects the tenant of a new session and marks it as last active: the tenant last active,
 * otherwise the one that invited the user most recently, otherwise the user's own.
 * @returns null if the user has no membership
 */
export async function enterTenant(connection: Queryable, userId: number): Promise<string | null> {
  const { rows } = await connection.query<{ tenant_id: string }>({
    text: `
      UPDATE memberships SET last_active_at = now()
      WHERE user_id = $1 AND tenant_id = (
        SELECT m.tenant_id FROM memberships m JOIN users u ON u.id = m.user_id
        WHERE m.user_id = $1
        ORDER BY m.last_active_at DESC NULLS LAST, m.tenant_id IS NOT DISTINCT FROM u.own_tenant_id,
                 m.created_at DESC, m.tenant_id
        LIMIT 1)
      RETURNING tenant_id`,
    values: [userId],
  })
  return rows[0]?.tenant_id ?? null
}

/** Locks the user's row, so that changes to their identities and memberships are serialized. */
export async function lockUser(connection: Queryable, userId: number): Promise<void> {
  await connection.query({
    text: 'SELECT FROM users WHERE id = $1 FOR UPDATE',
    values: [userId],
  })
}
