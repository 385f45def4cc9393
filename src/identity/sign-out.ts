import type { IdentityPlane } from '#src/db/identity-plane.ts'
import { type Device, recordAudit } from './audit.ts'
import { type Caller, endSession } from './sessions.ts'

const statementTimeoutMs = 2_000

/** Ends the session and writes the audit entry in one commit; once it resolves, nobody has it. */
export async function signOut(
  plane: IdentityPlane,
  cookieId: string,
  caller: Caller,
  device: Device,
): Promise<void> {
  await plane.transaction({ statementTimeoutMs }, async (connection) => {
    const ended = await endSession(connection, cookieId)
    if (!ended) return
    const { userId, tenantId } = caller
    await recordAudit(
      connection,
      { action: 'sign-out', outcome: 'done', reason: 'own-request', userId, tenantId },
      device,
    )
  })
}
