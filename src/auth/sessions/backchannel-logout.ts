import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import type { ProviderLogout } from '#src/auth/oidc/logout.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { isRolledBackForAnother, tryAgain } from '#src/db/errors.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { endingLimits } from '#src/db/timeouts.ts'

// A logout token is accepted from 600 s before to 600 s after its `iat`; rounded up from 20
// minutes.
const rememberedSeconds = 3_600

/**
 * Ends the sessions that a verified logout token is for: without `sid` all sessions of the subject
 * signed in through this provider; with it those signed in from that session at the provider or, if
 * there are none, those for which the provider named no session. Others stay: a person who has signed
 * out here first stays signed in on other devices. One transaction stores the `jti`, ends the sessions
 * and writes the audit entries, so that a failed request can be repeated with the same token. Stored
 * provider tokens are not revoked: offline access outlasts the provider's session (Back-Channel Logout
 * 1.0, 2.7), and the provider revokes all others itself.
 * @returns the number of ended sessions, or `replayed` for a `jti` that was used before
 */
export function endProviderSessions(
  systemDb: SystemDatabase,
  provider: string,
  logout: ProviderLogout,
  clientInfo: ClientInfo,
): Promise<number | 'replayed'> {
  const end = async (connection: Queryable) => {
    if (!(await rememberToken(connection, provider, logout.jti))) return 'replayed'
    const ended = await endSessions(connection, provider, logout)
    const entry = { action: 'sign-out', outcome: 'done', provider } as const
    for (const { user_id, tenant_id } of ended) {
      const owner = { userId: user_id === null ? null : Number(user_id), tenantId: tenant_id }
      await recordAudit(connection, { ...entry, reason: 'provider-request', ...owner }, clientInfo)
    }
    if (ended.length === 0) {
      await recordAudit(connection, { ...entry, reason: 'provider-request-no-session' }, clientInfo)
    }
    return ended.length
  }
  // A session that ends the others of its person waits for this transaction, and this one for it.
  return tryAgain(() => systemDb.transaction(endingLimits, end), isRolledBackForAnother)
}

/**
 * @returns false if the token was used before; a concurrent request with it waits and gets false
 */
async function rememberToken(
  connection: Queryable,
  provider: string,
  jti: string,
): Promise<boolean> {
  const [row] = await connection.sql<{ first: boolean }>`
    SELECT remember_logout(${provider}, ${sha256(jti)}, ${rememberedSeconds}) AS first`
  return row?.first === true
}

type Ended = { user_id: string | null; tenant_id: string | null }

async function endSessions(
  connection: Queryable,
  provider: string,
  { sessionId, subject }: ProviderLogout,
): Promise<Ended[]> {
  return connection.sql<Ended>`
    SELECT user_id, tenant_id FROM end_provider_sessions(${provider}, ${sessionId}, ${subject})`
}
