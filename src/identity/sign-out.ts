import type { IdentityPlane } from '#src/db/identity-plane.ts'
import { type Device, recordAudit } from './audit.ts'
import type { SessionCaller } from './caller.ts'
import { endSessionRow } from './sessions.ts'

const statementTimeoutMs = 2_000

/**
 * Ends the session and writes the audit entry in one commit; once it resolves, nobody has it. The
 * row is ended, so a tenant switch under way that gives it a new id does not save it.
 */
export async function signOut(
  plane: IdentityPlane,
  caller: SessionCaller,
  device: Device,
): Promise<void> {
  await plane.transaction({ statementTimeoutMs }, async (connection) => {
    const ended = await endSessionRow(connection, caller.sessionId)
    if (!ended) return
    const { userId, tenantId } = caller
    await recordAudit(
      connection,
      { action: 'sign-out', outcome: 'done', reason: 'own-request', userId, tenantId },
      device,
    )
  })
}
