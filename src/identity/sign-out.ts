import type { PgBoss } from 'pg-boss'
import type { IdentityPlane } from '#src/db/identity-plane.ts'
import { type Device, recordAudit } from './audit.ts'
import { retireGrants } from './retired-tokens.ts'
import { type Caller, endSession } from './sessions.ts'

const statementTimeoutMs = 2_000

/**
 * Ends the session, has the user's provider tokens revoked by a job, and writes the audit entry, all
 * in one commit; once it resolves, nobody has the session. No provider is waited for.
 */
export async function signOut(
  plane: IdentityPlane,
  queue: PgBoss,
  cookieId: string,
  caller: Caller,
  device: Device,
): Promise<void> {
  await plane.transaction({ statementTimeoutMs }, async (connection) => {
    const ended = await endSession(connection, cookieId)
    if (!ended) return
    const { userId, tenantId } = caller
    await retireGrants(connection, queue, { userId, tenantId })
    await recordAudit(
      connection,
      { action: 'sign-out', outcome: 'done', reason: 'own-request', userId, tenantId },
      device,
    )
  })
}
