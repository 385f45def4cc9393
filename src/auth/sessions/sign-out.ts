import type { PgBoss } from 'pg-boss'
import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { retireGrants } from '#src/auth/provider-tokens/retire.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { providerOfSession } from './backchannel-logout.ts'
import type { SessionCaller } from './caller.ts'
import { endSessionRow } from './sessions.ts'

const statementTimeoutMs = statementTimeoutsMs.byKey

/**
 * Ends the session, has the user's provider tokens revoked by a job, and writes the audit entry, all
 * in one commit; once it resolves, nobody has the session. No provider is waited for. The row is
 * ended, so a tenant switch under way that gives it a new id does not save it.
 * @returns the provider it was signed in through, where the browser may still be signed in
 */
export async function signOut(
  systemDb: SystemDatabase,
  queue: PgBoss,
  caller: SessionCaller,
  clientInfo: ClientInfo,
): Promise<string | null> {
  return systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const provider = await providerOfSession(connection, caller.sessionId)
    const ended = await endSessionRow(connection, caller.sessionId)
    if (!ended) return provider
    const { userId, tenantId } = caller
    await retireGrants(connection, queue, { userId, tenantId })
    await recordAudit(
      connection,
      { action: 'sign-out', outcome: 'done', reason: 'own-request', userId, tenantId },
      clientInfo,
    )
    return provider
  })
}
