import type { PgBoss } from 'pg-boss'
import { type ClientInfo, noClientInfo, recordAudit } from '#src/audit/audit.ts'
import type { AfterLeaving } from '#src/auth/members/leave.ts'
import { sendRevocations } from '#src/auth/provider-tokens/retire.ts'
import { newSessionId } from '#src/auth/sessions/session-id.ts'
import { sha256 } from '#src/crypto/hash.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { Problem } from '#src/http/problems.ts'

type DeletedRow = {
  outcome: 'moved' | 'ended' | 'no-admin' | 'other-name' | 'session-ended'
  user_id: string
  tenant_id: string
  revocations: string[]
}

/**
 * Deletes the active tenant of an admin's session. All access to it ends here and nothing is sent
 * from it any more; its members, rows and jobs are deleted by the worker. Members without another
 * tenant are deleted with their accounts, the admin here and the others by the worker or as they
 * sign in again.
 * @param connection entered without locks: the function checks session and membership as it locks them
 * @param cookieId the id in the request's cookie
 * @param name the name of the tenant, as the admin has typed it
 * @returns what becomes of the session
 * @throws Problem `unauthenticated`, `forbidden`, or `confirmation-mismatch` for another name
 */
export async function deleteTenant(
  connection: Queryable,
  queue: PgBoss,
  cookieId: string,
  name: string,
  clientInfo: ClientInfo,
): Promise<AfterLeaving> {
  const newCookieId = newSessionId()
  const [row] = await connection.sql<DeletedRow>`
    SELECT * FROM delete_tenant(${sha256(cookieId)}, ${sha256(newCookieId)}, ${name})`
  if (row === undefined || row.outcome === 'session-ended') throw new Problem('unauthenticated')
  if (row.outcome === 'no-admin') throw new Problem('forbidden', { reason: 'permission-missing' })
  if (row.outcome === 'other-name') throw new Problem('confirmation-mismatch')
  await sendRevocations(connection, queue, row.revocations)
  // Nothing of the tenant remains; a person without another tenant leaves only their number.
  const entry = { action: 'tenant-delete', outcome: 'done', reason: 'own-request' } as const
  const isGone = row.outcome === 'ended'
  await recordAudit(
    connection,
    { ...entry, userId: Number(row.user_id) },
    isGone ? noClientInfo : clientInfo,
  )
  return row.outcome === 'moved' ? { session: 'moved', newCookieId } : { session: 'ended' }
}

/** Deletes any tenant, as the owner of the database. */
export async function deleteTenantByCommand(
  connection: Queryable,
  tenantId: string,
  name: string,
): Promise<'deleted' | 'no-tenant' | 'other-name'> {
  const [known] = await connection.sql<{ name: string | null }>`
    SELECT tenant_name(${tenantId}::uuid) AS name`
  if (!known?.name) return 'no-tenant'
  if (known.name !== name) return 'other-name'
  await connection.sql`SELECT close_tenant(${tenantId}::uuid)`
  const entry = { action: 'tenant-delete', outcome: 'done', reason: 'command' } as const
  await recordAudit(connection, entry, noClientInfo)
  return 'deleted'
}
