import type { PgBoss } from 'pg-boss'
import { sendRevocations } from '#src/auth/provider-tokens/retire.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { addHook } from '#src/queue/app/hooks.ts'
import type { AdmissionFacts, ExistingUsers, VerifiedIdentity } from './account-linking.ts'

/**
 * The user with this identity, or else the user who has verified its address. A user whose tenants
 * are all closed is deleted first, as the worker would later.
 * @param operators `provider:subject` pairs
 */
export async function findExistingUsers(
  connection: Queryable,
  queue: PgBoss,
  { subject, email }: VerifiedIdentity,
  operators: ReadonlySet<string>,
): Promise<ExistingUsers> {
  const [row] = await connection.sql<{
    identity_user_id: string | null
    identity_issuer: string | null
    address_user_id: string | null
    address_user_operates: boolean | null
    address_is_current: boolean | null
    revocations: string[]
  }>`
    SELECT * FROM look_up_identity(${subject}, ${email}, ${[...operators]})`
  await sendRevocations(connection, queue, row?.revocations ?? [])
  return {
    identityUserId: toUserId(row?.identity_user_id),
    identityIssuer: row?.identity_issuer ?? null,
    addressUserId: toUserId(row?.address_user_id),
    addressUserOperates: row?.address_user_operates === true,
    addressIsCurrent: row?.address_is_current === true,
  }
}

/**
 * Whether the address has an open invitation.
 * @param link the secret of the invitation's link, if the browser has opened one
 */
export async function findAdmissionFacts(
  connection: Queryable,
  { email }: VerifiedIdentity,
  link: Uint8Array | null,
): Promise<AdmissionFacts> {
  const [row] = await connection.sql<{
    invited: boolean
    has_link: boolean
  }>`
    SELECT * FROM look_up_admission(${email}, ${link})`
  return {
    invited: row?.invited === true,
    hasLink: row?.has_link === true,
  }
}

/** Signs in as the holder of the identity. @returns null if it was unlinked meanwhile */
export async function enterIdentity(
  connection: Queryable,
  { subject }: VerifiedIdentity,
): Promise<number | null> {
  const [row] = await connection.sql<{ id: string | null }>`SELECT enter_identity(${subject}) AS id`
  return toUserId(row?.id)
}

/**
 * Gives the new identity to the user who has its address verified, and signs in as them.
 * @returns null if no user has it verified any more, no identity of that user has it any more, or they
 *   have become an operator
 */
export async function linkByAddress(
  connection: Queryable,
  { subject, issuer, email }: VerifiedIdentity,
  operators: ReadonlySet<string>,
): Promise<number | null> {
  const [row] = await connection.sql<{ id: string | null }>`
    SELECT link_by_address(${subject}, ${issuer}, ${email}, ${[...operators]}) AS id`
  return toUserId(row?.id)
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
  const [row] = await connection.sql<{ id: string }>`
    SELECT create_user(${subject}, ${issuer}, ${email}, ${tenantName}) AS id`
  const userId = Number(row?.id)
  const own = Prisma.sql`SELECT own_tenant_id::text AS tenant FROM users WHERE id = ${userId}`
  await addHook(connection, 'tenant.created', own, { userId })
  await addHook(connection, 'user.created', own, { userId })
  return userId
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
  const rows = await connection.sql<{ user_id: string; verified: boolean }>`
    SELECT user_id, verified FROM prove_address(${address})`
  return rows.map(({ user_id, verified }) => ({ userId: Number(user_id), verified }))
}

/** Links the identity to the user of a link. Fails with a unique violation if it is linked already. */
export async function linkIdentity(
  connection: Queryable,
  { subject, issuer }: VerifiedIdentity,
): Promise<void> {
  await connection.sql`SELECT link_identity(${subject}, ${issuer})`
}

function toUserId(id: string | null | undefined): number | null {
  return id === null || id === undefined ? null : Number(id)
}

/**
 * Keeps what the provider said about the person: their name and language, and the address that it has
 * verified, if it is trusted for it. The invitations of this address are the user's to accept.
 */
export async function recordClaims(
  connection: Queryable,
  { subject, email, emailTrusted, name, locale }: VerifiedIdentity,
): Promise<void> {
  await connection.sql`
    SELECT record_verified_email(${subject}, ${emailTrusted ? email : null}), record_profile(${name}, ${locale})`
}

/** Locks the row of the current user, so that changes to their identities are serialized. */
export async function lockUser(connection: Queryable): Promise<void> {
  await connection.sql`SELECT lock_current_user()`
}
