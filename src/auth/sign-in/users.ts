import type { Queryable } from '#src/db/system-database.ts'
import type { AdmissionFacts, ExistingUsers, VerifiedIdentity } from './account-linking.ts'

/**
 * The user with this identity, or else the user who has verified its address.
 * @param operators `provider:subject` pairs
 */
export async function findExistingUsers(
  connection: Queryable,
  { subject, email }: VerifiedIdentity,
  operators: ReadonlySet<string>,
): Promise<ExistingUsers> {
  const { rows } = await connection.query<{
    identity_user_id: string | null
    address_user_id: string | null
    address_user_operates: boolean | null
  }>({
    text: 'SELECT * FROM look_up_identity($1, $2, $3)',
    values: [subject, email, [...operators]],
  })
  return {
    identityUserId: toUserId(rows[0]?.identity_user_id),
    addressUserId: toUserId(rows[0]?.address_user_id),
    addressUserOperates: rows[0]?.address_user_operates === true,
  }
}

/** The issuer of a known identity, and whether its address has an open invitation. */
export async function findAdmissionFacts(
  connection: Queryable,
  { subject, email }: VerifiedIdentity,
): Promise<AdmissionFacts> {
  const { rows } = await connection.query<{ identity_issuer: string | null; invited: boolean }>({
    text: 'SELECT * FROM look_up_admission($1, $2)',
    values: [subject, email],
  })
  return {
    identityIssuer: rows[0]?.identity_issuer ?? null,
    invited: rows[0]?.invited === true,
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
 * Gives the new identity to the user who has its address verified, and signs in as them.
 * @returns null if no user has it verified any more, or that user has become an operator
 */
export function linkByAddress(
  connection: Queryable,
  { subject, issuer, email }: VerifiedIdentity,
  operators: ReadonlySet<string>,
): Promise<number | null> {
  return readUserId(connection, 'SELECT link_by_address($1, $2, $3, $4) AS id', [
    subject,
    issuer,
    email,
    [...operators],
  ])
}

/**
 * Creates a user and a tenant of their own, of which they are admin (contract 8), and signs in.
 * Their address is unverified until `proveAddress`.
 */
export async function createUser(
  connection: Queryable,
  { subject, issuer, email, name }: VerifiedIdentity,
): Promise<number> {
  const tenantName = (name ?? email ?? 'Personal').slice(0, 200)
  const { rows } = await connection.query<{ id: string }>({
    text: 'SELECT create_user($1, $2, $3, $4) AS id',
    values: [subject, issuer, email, tenantName],
  })
  return Number(rows[0]?.id)
}

/**
 * Records that the user of the sign-in has verified an address through a trusted provider. A user
 * without a verified address gets it, unless another user has verified it before. Users who only
 * claimed it lose the address, not the account.
 * @returns the users whose address changed; `verified` is true for the new holder
 */
export async function proveAddress(
  connection: Queryable,
  address: string,
): Promise<{ userId: number; verified: boolean }[]> {
  const { rows } = await connection.query<{ user_id: string; verified: boolean }>({
    text: 'SELECT user_id, verified FROM prove_address($1)',
    values: [address],
  })
  return rows.map(({ user_id, verified }) => ({ userId: Number(user_id), verified }))
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
  return toUserId(rows[0]?.id)
}

function toUserId(id: string | null | undefined): number | null {
  return id === null || id === undefined ? null : Number(id)
}

/**
 * Keeps what the provider said about the person: their name, and the address that it has verified, if
 * it is trusted for it. The invitations of this address are the user's to accept.
 */
export async function recordClaims(
  connection: Queryable,
  { subject, email, emailTrusted, name }: VerifiedIdentity,
): Promise<void> {
  await connection.query({
    text: 'SELECT record_verified_email($1, $2), record_name($3)',
    values: [subject, emailTrusted ? email : null, name],
  })
}

/** Locks the row of the current user, so that changes to their identities are serialized. */
export async function lockUser(connection: Queryable): Promise<void> {
  await connection.query({ text: 'SELECT lock_current_user()' })
}
