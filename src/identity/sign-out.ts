import type { IdentityPlane } from '#src/db/identity-plane.ts'
import { type Device, recordAudit } from './audit.ts'
import { providerOfSession } from './provider-logout.ts'
import { type Caller, endSession } from './sessions.ts'

const statementTimeoutMs = 2_000

/**
 * Ends the session and writes the audit entry in one commit; once it resolves, nobody has it.
 * @returns the provider it was signed in through, where the browser may still be signed in
 */
export async function signOut(
  plane: IdentityPlane,
  cookieId: string,
  caller: Caller,
  device: Device,
): Promise<string | null> {
  return plane.transaction({ statementTimeoutMs }, async (connection) => {
    const provider = await providerOfSession(connection, cookieId)
    const ended = await endSession(connection, cookieId)
    if (!ended) return provider
    const { userId, tenantId } = caller
    await recordAudit(
      connection,
      { action: 'sign-out', outcome: 'done', reason: 'own-request', userId, tenantId },
      device,
    )
    return provider
  })
}
