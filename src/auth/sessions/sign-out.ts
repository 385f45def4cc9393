import type { PgBoss } from 'pg-boss'
import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { retireGrants } from '#src/auth/provider-tokens/retire.ts'
import { equalBytes, hmacSha256, randomToken } from '#src/crypto/hash.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
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

/** The provider of the session's sign-in; null for an anonymous session. */
async function providerOfSession(connection: Queryable, sessionId: string): Promise<string | null> {
  const { rows } = await connection.query<{ provider: string | null }>({
    text: 'SELECT provider FROM sessions WHERE id = $1',
    values: [sessionId],
  })
  return rows[0]?.provider ?? null
}

/**
 * The `state` of an RP-initiated logout: the provider's name, signed, so that a forged link to the
 * signed-out page is detected. It is not stored, because the session has ended by then.
 */
export function logoutState(secret: string, provider: string): string {
  const content = `${provider}.${randomToken()}`
  return `${content}.${signatureOf(secret, content).toString('base64url')}`
}

/** The provider of a `logoutState`; null for any other text. */
export function readLogoutState(secrets: readonly string[], state: string): string | null {
  const [, content = '', provider = '', signature = ''] =
    /^(([a-z][a-z0-9_]*)\.[\w-]{43})\.([\w-]{43})$/.exec(state) ?? []
  const given = Buffer.from(signature, 'base64url')
  const isSigned = secrets.some((secret) => equalBytes(signatureOf(secret, content), given))
  return isSigned ? provider : null
}

/** The prefix separates these signatures from session cookies, which the same secrets sign. */
function signatureOf(secret: string, content: string): Buffer {
  return hmacSha256(secret, 'provider-logout:', content)
}
