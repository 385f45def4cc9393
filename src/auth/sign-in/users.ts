import type { Queryable } from '#src/db/system-database.ts'
import type { ExistingUsers, VerifiedIdentity } from './account-linking.ts'

/** The user with this identity, or else the users with its address. */
export async function findExistingUsers(
  connection: Queryable,
  { subject, email }: VerifiedIdentity,
): Promise<ExistingUsers> {
  const { rows } = await connection.query<{
    identity_user_id: string | null
    user_id: string | null
    email_verified: boolean | null
  }>({
    text: 'SELECT * FROM look_up_identity($1, $2)',
    values: [subject, email],
  })
  const holder = rows[0]?.identity_user_id ?? null
  if (holder !== null) return { identityUserId: Number(holder), sameAddress: [] }
  return {
    identityUserId: null,
    sameAddress: rows.map(({ user_id, email_verified }) => ({
      userId: Number(user_id),
      emailVerified: email_verified === true,
    })),
  }
}

/** Signs in as the holder of the identity. @returns null if it was unlinked meanwhile */
export function enterIdentity(
  connection: Queryable,
  { subject }: VerifiedIdentity,
): Promise<number | null> {
  return readUserId(connection, 'SELECT enter_identity($1) AS id', [subject])
}

/**
 * Gives the new identity to the one user who has its address verified, and signs in as them.
 * @returns null if that is no longer exactly one user
 */
export function linkByAddress(
  connection: Queryable,
  { subject, issuer, email }: VerifiedIdentity,
): Promise<number | null> {
  return readUserId(connection, 'SELECT link_by_address($1, $2, $3) AS id', [
    subject,
    issuer,
    email,
  ])
}

/** Creates a user and a tenant of their own, of which they are admin (contract 8), and signs in. */
export async function createUser(
  connection: Queryable,
  { subject, issuer, email, name }: VerifiedIdentity,
  emailVerified: boolean,
): Promise<number> {
  const tenantName = (name ?? email ?? 'Personal').slice(0, 200)
  const { rows } = await connection.query<{ id: string }>({
    text: 'SELECT create_user($1, $2, $3, $4, $5) AS id',
    values: [subject, issuer, email, emailVerified, tenantName],
  })
  return Number(rows[0]?.id)
}

/** Links the identity to the user of a link. Fails with a unique violation if it is linked already. */
export async function linkIdentity(
  connection: Queryable,
  { subject, issuer }: VerifiedIdentity,
): Promise<void> {
  await connection.query({ text: 'SELECT link_identity($1, $2)', values: [subject, issuer] })
}

async function readUserId(
  connection: Queryable,
  text: string,
  values: unknown[],
): Promise<number | null> {
  const { rows } = await connection.query<{ id: string | null }>({ text, values })
  const id = rows[0]?.id ?? null
  return id === null ? null : Number(id)
}

/**
 * Keeps the address that the provider has verified for the identity, if it is trusted for it: the
 * invitations of this address are the user's to accept.
 */
export async function recordVerifiedEmail(
  connection: Queryable,
  { subject, email, emailTrusted }: VerifiedIdentity,
): Promise<void> {
  await connection.query({
    text: 'SELECT record_verified_email($1, $2)',
    values: [subject, emailTrusted ? email : null],
  })
}

/** Locks the row of the current user, so that changes to their identities are serialized. */
export async function lockUser(connection: Queryable): Promise<void> {
  await connection.query({ text: 'SELECT lock_current_user()' })
}
