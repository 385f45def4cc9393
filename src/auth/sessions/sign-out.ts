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
 * Ends the session, enqueues the revocation of the user's provider tokens and writes the audit
 * entry, all in one transaction that waits for no provider. The session's row is deleted, so a
 * concurrent tenant switch, which changes its cookie id, does not keep it alive.
 * @returns the provider of the sign-in, where the browser may still be signed in
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
