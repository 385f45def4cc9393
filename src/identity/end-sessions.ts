import { type Device, recordAudit } from '#src/audit/audit.ts'
import type { SessionCaller } from '#src/auth/sessions/caller.ts'
import type { IdentityPlane, Queryable } from '#src/db/system-database.ts'

const statementTimeoutMs = 2_000

/** Ends one of the caller's sessions. @returns false when it is missing or not theirs */
export async function endOwnSession(
  plane: IdentityPlane,
  caller: SessionCaller,
  id: string,
  device: Device,
): Promise<boolean> {
  return plane.transaction({ statementTimeoutMs }, async (connection) => {
    const { rows } = await connection.query<EndedRow>({
      text: 'DELETE FROM sessions WHERE id = $1 AND user_id = $2 RETURNING id, tenant_id',
      values: [id, caller.userId],
    })
    await noteEnded(connection, caller.userId, rows, 'own-request', device)
    return rows.length === 1
  })
}

/** Ends every session of the caller but the one that asks. @returns how many ended */
export async function endOtherSessions(
  plane: IdentityPlane,
  caller: SessionCaller,
  device: Device,
): Promise<number> {
  return plane.transaction({ statementTimeoutMs }, async (connection) => {
    const { rows } = await connection.query<EndedRow>({
      text: 'DELETE FROM sessions WHERE user_id = $1 AND id <> $2 RETURNING id, tenant_id',
      values: [caller.userId, caller.sessionId],
    })
    await noteEnded(connection, caller.userId, rows, 'others-ended', device)
    return rows.length
  })
}

type EndedRow = { id: string; tenant_id: string | null }

/** One audit entry per session, in the transaction that ended them. */
export async function noteEnded(
  connection: Queryable,
  userId: number,
  ended: readonly EndedRow[],
  reason: 'own-request' | 'others-ended' | 'identity-unlinked',
  device: Device,
): Promise<void> {
  for (const { id: target, tenant_id: tenantId } of ended) {
    const entry = { action: 'session-end', outcome: 'done', reason } as const
    await recordAudit(connection, { ...entry, userId, tenantId, target }, device)
  }
}
