import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import type { ProviderLogout } from '#src/auth/oidc/logout.ts'
import { equalBytes, hmacSha256, randomToken, sha256 } from '#src/crypto/hash.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'

const statementTimeoutMs = statementTimeoutsMs.byKey
// A token passes for 600 s either side of its `iat`, 20 minutes in all; rounded up.
const rememberedSeconds = 3_600

/** The provider through which the session was signed in; null for an anonymous one. */
export async function providerOfSession(
  connection: Queryable,
  sessionId: string,
): Promise<string | null> {
  const { rows } = await connection.query<{ provider: string | null }>({
    text: 'SELECT provider FROM sessions WHERE id = $1',
    values: [sessionId],
  })
  return rows[0]?.provider ?? null
}

/**
 * Ends what a verified logout token names: with `sid` the sessions signed in from that session at
 * the provider, else all that the subject's user signed in through this provider. Single use,
 * sessions and audit entries stand or fall together, so a token whose ending failed can come again.
 * Kept provider tokens stay: those of offline access outlive the provider's session by design
 * (Back-Channel Logout 1.0, 2.7), and all others the provider itself has ended.
 * @returns how many sessions ended, or `replayed`, with nothing changed, for a `jti` seen before
 */
export function endProviderSessions(
  systemDb: SystemDatabase,
  provider: string,
  logout: ProviderLogout,
  clientInfo: ClientInfo,
): Promise<number | 'replayed'> {
  return systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    if (!(await rememberToken(connection, provider, logout.jti))) return 'replayed'
    const ended =
      logout.sessionId === null
        ? await endBySubject(connection, provider, logout.subject ?? '')
        : await endBySession(connection, provider, logout.sessionId)
    const entry = { action: 'sign-out', outcome: 'done', provider } as const
    for (const { user_id, tenant_id } of ended) {
      const whose = { userId: user_id === null ? null : Number(user_id), tenantId: tenant_id }
      await recordAudit(connection, { ...entry, reason: 'provider-request', ...whose }, clientInfo)
    }
    if (ended.length === 0) {
      await recordAudit(connection, { ...entry, reason: 'provider-request-no-session' }, clientInfo)
    }
    return ended.length
  })
}

/** @returns false when the token was received before; of two at once the second waits and loses */
async function rememberToken(
  connection: Queryable,
  provider: string,
  jti: string,
): Promise<boolean> {
  await connection.query({
    text: 'DELETE FROM logout_tokens WHERE provider = $1 AND expires_at < now()',
    values: [provider],
  })
  const { rowCount } = await connection.query({
    text: `INSERT INTO logout_tokens (provider, jti_hash, expires_at)
           VALUES ($1, $2, now() + make_interval(secs => $3)) ON CONFLICT DO NOTHING`,
    values: [provider, sha256(jti), rememberedSeconds],
  })
  return rowCount === 1
}

type Ended = { user_id: string | null; tenant_id: string | null }

async function endBySession(
  connection: Queryable,
  provider: string,
  sessionId: string,
): Promise<Ended[]> {
  const { rows } = await connection.query<Ended>({
    text: `DELETE FROM sessions WHERE provider = $1 AND provider_session = $2
           RETURNING user_id, tenant_id`,
    values: [provider, sessionId],
  })
  return rows
}

async function endBySubject(
  connection: Queryable,
  provider: string,
  subject: string,
): Promise<Ended[]> {
  const { rows } = await connection.query<Ended>({
    text: `
      DELETE FROM sessions WHERE provider = $1 AND user_id =
        (SELECT user_id FROM oauth_identities WHERE provider = $1 AND provider_user_id = $2)
      RETURNING user_id, tenant_id`,
    values: [provider, subject],
  })
  return rows
}

/**
 * The `state` of a provider logout: who it went to, signed, so that the browser's return can be
 * told from a link somebody made up. Nothing is stored for it: the session is gone by then.
 */
export function logoutState(secret: string, provider: string): string {
  const content = `${provider}.${randomToken()}`
  return `${content}.${sealOf(secret, content).toString('base64url')}`
}

/** The provider named by a state of ours; null for any other text. */
export function readLogoutState(secrets: readonly string[], state: string): string | null {
  const [, content = '', provider = '', seal = ''] =
    /^(([a-z][a-z0-9_]*)\.[\w-]{43})\.([\w-]{43})$/.exec(state) ?? []
  const given = Buffer.from(seal, 'base64url')
  return secrets.some((secret) => equalBytes(sealOf(secret, content), given)) ? provider : null
}

/** Under a name of its own: the same secrets sign the session cookie. */
function sealOf(secret: string, content: string): Buffer {
  return hmacSha256(secret, 'provider-logout:', content)
}
