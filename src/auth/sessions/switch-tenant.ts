import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { newSessionId } from '#src/auth/sessions/session-id.ts'
import { sha256 } from '#src/crypto/hash.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { Problem } from '#src/http/problems.ts'

/**
 * Changes the active tenant of a cookie's session and gives the session a new cookie id. If the
 * session has ended or has another cookie id by then, nothing changes.
 * @param connection entered without locks: the function checks session and membership as it locks them
 * @param cookieId the id in the request's cookie
 * @returns the new cookie id; null if the tenant does not exist or the user is not a member
 * @throws Problem `unauthenticated` if the session has ended
 */
export async function switchTenant(
  connection: Queryable,
  cookieId: string,
  tenantId: string,
  clientInfo: ClientInfo,
): Promise<string | null> {
  const newCookieId = newSessionId()
  const [row] = await connection.sql<SwitchRow>`
    SELECT outcome, session_id, user_id FROM switch_tenant(${sha256(cookieId)},
      ${sha256(newCookieId)}, ${tenantId})`
  if (row === undefined || row.outcome === 'session-ended') throw new Problem('unauthenticated')
  if (row.outcome === 'no-member') return null
  const entry = { action: 'tenant-switch', outcome: 'done', reason: 'own-request' } as const
  const { session_id: target, user_id: userId } = row
  await recordAudit(connection, { ...entry, userId: Number(userId), tenantId, target }, clientInfo)
  return newCookieId
}

type SwitchRow = {
  outcome: 'switched' | 'no-member' | 'session-ended'
  session_id: string
  user_id: string
}
