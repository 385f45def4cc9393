import type { PgBoss } from 'pg-boss'
import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { sendRevocations } from '#src/auth/provider-tokens/retire.ts'
import { newSessionId } from '#src/auth/sessions/session-id.ts'
import { sha256 } from '#src/crypto/hash.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { Problem } from '#src/http/problems.ts'
import { addHook } from '#src/queue/app/hooks.ts'
import { recordEndedInvitations } from './invitations.ts'

/** What becomes of the session that the user has left a tenant with. */
export type AfterLeaving =
  /** It was in another tenant. */
  | { session: 'unchanged' }
  /** It was in this one, and is now in another tenant of the user, under a new cookie id. */
  | { session: 'moved'; newCookieId: string }
  /** It was in this one, and the user has no other tenant. */
  | { session: 'ended' }

/**
 * Removes the user of a cookie's session from a tenant: their sessions and API tokens in it and the
 * open invitations they have sent end; a worker clears the author of what they have written. A user
 * without any membership left is deleted and their provider grants are retired.
 * @param connection entered without locks: the function checks session and membership as it locks them
 * @param cookieId the id in the request's cookie
 * @returns `missing` if the user is not a member, whether the tenant exists or not
 * @throws Problem `unauthenticated` if the session has ended
 */
export async function leaveTenant(
  connection: Queryable,
  queue: PgBoss,
  cookieId: string,
  tenantId: string,
  clientInfo: ClientInfo,
): Promise<AfterLeaving | 'missing' | 'last-admin'> {
  const newCookieId = newSessionId()
  const [row] = await connection.sql<LeaveRow>`
    SELECT * FROM leave_tenant(${sha256(cookieId)}, ${sha256(newCookieId)}, ${tenantId})`
  if (row === undefined || row.outcome === 'session-ended') throw new Problem('unauthenticated')
  if (row.outcome === 'no-member') return 'missing'
  const userId = Number(row.user_id)
  const entry = { action: 'tenant-leave', userId, tenantId, target: tenantId } as const
  if (row.outcome === 'last-admin') {
    const refused = { ...entry, outcome: 'refused', reason: 'last-admin' } as const
    await recordAudit(connection, refused, clientInfo)
    return 'last-admin'
  }
  await addHook(connection, 'user.left', tenantId, { userId })
  await sendRevocations(connection, queue, row.revocations)
  const reason = row.user_gone ? 'last-membership' : 'own-request'
  await recordAudit(connection, { ...entry, outcome: 'done', reason }, clientInfo)
  await recordEndedInvitations(connection, { userId, tenantId }, row.invitations, clientInfo)
  if (row.outcome === 'moved') return { session: 'moved', newCookieId }
  return { session: row.outcome === 'ended' ? 'ended' : 'unchanged' }
}

type LeaveRow = {
  outcome: 'left' | 'moved' | 'ended' | 'last-admin' | 'no-member' | 'session-ended'
  user_id: string
  user_gone: boolean
  revocations: string[]
  invitations: string[]
}
