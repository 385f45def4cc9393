import type { PgBoss } from 'pg-boss'
import { type ClientInfo, noClientInfo, recordAudit } from '#src/audit/audit.ts'
import { sendRevocations } from '#src/auth/provider-tokens/retire.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { Problem } from '#src/http/problems.ts'
import { addHook } from '#src/queue/app/hooks.ts'

/** `blockedBy`: names of the tenants that would keep members but no admin. */
export type ErasureRefusal = { blockedBy: readonly string[] }

type ErasedRow = {
  outcome: 'erased' | 'last-admin' | 'no-user' | 'session-ended'
  user_id: string
  /** The names of those that refuse it, or the ids of those that the person has left. */
  tenants: string[]
  revocations: string[]
}

/**
 * Deletes the account of a session's user: sessions, API tokens, identities, memberships, and the
 * tenants of which they are the only member. Provider tokens are enqueued for revocation. Orders,
 * and copies in events and in the audit log, are erased by the worker.
 * @param connection entered without locks: the function checks the session as it locks it
 * @param cookieId the id in the request's cookie
 * @throws Problem `unauthenticated` if the session has ended
 */
export async function eraseAccount(
  connection: Queryable,
  queue: PgBoss,
  cookieId: string,
  clientInfo: ClientInfo,
): Promise<'erased' | ErasureRefusal> {
  const [row] = await connection.sql<ErasedRow>`
    SELECT outcome, user_id, tenants, revocations FROM erase_account(${sha256(cookieId)})`
  if (row === undefined || row.outcome === 'session-ended' || row.outcome === 'no-user') {
    throw new Problem('unauthenticated')
  }
  const userId = Number(row.user_id)
  const entry = { action: 'account-delete', userId } as const
  if (row.outcome === 'last-admin') {
    await recordAudit(
      connection,
      { ...entry, outcome: 'refused', reason: 'last-admin' },
      clientInfo,
    )
    return { blockedBy: row.tenants }
  }
  await addHook(connection, 'user.left', row.tenants, { userId })
  await sendRevocations(connection, queue, row.revocations)
  // Without the client: what remains of the person is their number.
  await recordAudit(connection, { ...entry, outcome: 'done', reason: 'own-request' }, noClientInfo)
  return 'erased'
}

/**
 * The same for any user, as the owner of the database.
 * @returns null if there is no such user
 */
export async function eraseByCommand(
  connection: Queryable,
  queue: PgBoss,
  userId: number,
): Promise<'erased' | ErasureRefusal | null> {
  const [row] = await connection.sql<ErasedRow>`
    SELECT outcome, tenants, revocations FROM erase_person(${userId})`
  if (row === undefined || row.outcome === 'no-user') return null
  if (row.outcome === 'last-admin') return { blockedBy: row.tenants }
  await addHook(connection, 'user.left', row.tenants, { userId })
  await sendRevocations(connection, queue, row.revocations)
  const entry = { action: 'account-delete', outcome: 'done', reason: 'command', userId } as const
  await recordAudit(connection, entry, noClientInfo)
  return 'erased'
}

/** The id of a user, given by id or by verified address; null if there is none. */
export async function findPerson(
  systemDb: Queryable,
  holder: { userId: number } | { email: string },
): Promise<number | null> {
  const isHolder =
    'userId' in holder
      ? Prisma.sql`id = ${holder.userId}`
      : Prisma.sql`email_verified AND lower(email COLLATE "C") = lower(${holder.email}::text COLLATE "C")`
  const [row] = await systemDb.sql<{ id: string }>`SELECT id FROM users WHERE ${isHolder}`
  return row === undefined ? null : Number(row.id)
}

/** How the last admin of a tenant goes on. */
export function describeBlock({ blockedBy }: ErasureRefusal): string {
  const names = blockedBy.map((name) => `“${name}”`).join(', ')
  return `Make another member an admin first, or delete the tenant: ${names}.`
}
