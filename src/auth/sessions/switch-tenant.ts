import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { randomToken, sha256 } from '#src/crypto/hash.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import type { SessionCaller } from './caller.ts'

const statementTimeoutMs = statementTimeoutsMs.byKey

export type SwitchOutcome =
  | { outcome: 'switched'; newCookieId: string }
  /** The tenant does not exist, or the caller is not a member. */
  | { outcome: 'no-member' }
  | { outcome: 'session-ended' }

class SessionEnded extends Error {}

/**
 * Changes the session's active tenant and gives the session a new cookie id. The same statement
 * checks the membership. If the session has ended or has another cookie id by then, nothing
 * changes.
 * @param cookieId the id in the request's cookie
 */
export async function switchTenant(
  systemDb: SystemDatabase,
  caller: Pick<SessionCaller, 'userId' | 'sessionId'>,
  cookieId: string,
  tenantId: string,
  clientInfo: ClientInfo,
): Promise<SwitchOutcome> {
  const { userId, sessionId } = caller
  const newCookieId = randomToken()
  try {
    return await systemDb.transaction({ statementTimeoutMs }, async (connection) => {
      const { rows } = await connection.query<{ member: boolean; moved: boolean }>({
        text: `
          WITH member AS (
            UPDATE memberships SET last_active_at = now()
            WHERE tenant_id = $1 AND user_id = $2 RETURNING tenant_id
          ), moved AS (
            UPDATE sessions s SET tenant_id = member.tenant_id, id_hash = $3
            FROM member
            WHERE s.id = $4 AND s.id_hash = $5 AND s.user_id = $2 AND s.expires_at > now()
            RETURNING s.id
          )
          SELECT EXISTS (SELECT FROM member) AS member, EXISTS (SELECT FROM moved) AS moved`,
        values: [tenantId, userId, sha256(newCookieId), sessionId, sha256(cookieId)],
      })
      if (!rows[0]?.member) return { outcome: 'no-member' }
      if (!rows[0].moved) throw new SessionEnded()
      const entry = { action: 'tenant-switch', outcome: 'done', reason: 'own-request' } as const
      await recordAudit(connection, { ...entry, userId, tenantId, target: sessionId }, clientInfo)
      return { outcome: 'switched', newCookieId }
    })
  } catch (error) {
    if (error instanceof SessionEnded) return { outcome: 'session-ended' }
    throw error
  }
}
