import type { ClientInfo } from '#src/audit/audit.ts'
import { sha256 } from '#src/crypto/hash.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { type CallerRow, personOf, type SessionCaller } from './caller.ts'

export type SessionLimits = { idleSeconds: number; absoluteSeconds: number }

/** A live session; `caller` is null while the first sign-in is pending. */
export type LiveSession = { caller: SessionCaller | null }

type SessionRow = Omit<CallerRow, 'user_id'> & {
  user_id: string | null
  authenticated_seconds_ago: number | null
}

// last_seen_at is updated at most this often, so that most look-ups write nothing.
const seenEverySeconds = 60

/**
 * Reads session, user and membership in one statement, by the hash of the id in the cookie. Idle
 * and absolute limits are checked by database time. Nothing is cached.
 */
export async function findSession(
  systemDb: Queryable,
  cookieId: string,
  limits: SessionLimits,
): Promise<LiveSession | null> {
  const { rows } = await systemDb.query<SessionRow>({
    name: 'find-session',
    text: `
      WITH live AS (
        SELECT id, user_id, tenant_id, last_seen_at, authenticated_at FROM sessions
        WHERE id_hash = $1 AND expires_at > now()
          AND last_seen_at > now() - make_interval(secs => $2)
      ), seen AS (
        UPDATE sessions SET last_seen_at = now()
        WHERE id = (SELECT id FROM live WHERE last_seen_at < now() - make_interval(secs => $3))
      )
      SELECT live.id, live.user_id, u.email, u.plan, u.created_at,
             live.tenant_id, m.role, m.department,
             floor(extract(epoch FROM now() - live.authenticated_at))::float8
               AS authenticated_seconds_ago
      FROM live
      LEFT JOIN users u ON u.id = live.user_id
      LEFT JOIN memberships m ON m.tenant_id = live.tenant_id AND m.user_id = live.user_id`,
    values: [sha256(cookieId), limits.idleSeconds, seenEverySeconds],
  })
  const [row] = rows
  return row === undefined ? null : { caller: toCaller(row) }
}

function toCaller(row: SessionRow): SessionCaller | null {
  const { user_id } = row
  if (user_id === null) return null
  return {
    sessionId: row.id,
    tokenId: null,
    tokenPermissions: null,
    authenticatedSecondsAgo: row.authenticated_seconds_ago,
    ...personOf({ ...row, user_id }),
  }
}

/** Inserts the session of a user who has just authenticated. */
export async function createSession(
  connection: Queryable,
  session: {
    cookieId: string
    userId: number
    tenantId: string | null
    provider: string
    providerSession: string | null
    absoluteSeconds: number
    clientInfo: ClientInfo
  },
): Promise<void> {
  await connection.query({
    text: `
      INSERT INTO sessions (id_hash, user_id, tenant_id, provider, provider_session,
                            user_agent, ip, authenticated_at, expires_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, now(), now() + make_interval(secs => $8))`,
    values: [
      sha256(session.cookieId),
      session.userId,
      session.tenantId,
      session.provider,
      session.providerSession,
      session.clientInfo.userAgent,
      session.clientInfo.ip,
      session.absoluteSeconds,
    ],
  })
}

/** Locks the session's row until the transaction ends; null if the session has ended. */
export async function lockSession(
  connection: Queryable,
  sessionId: string,
): Promise<{ userId: number | null; tenantId: string | null } | null> {
  const { rows } = await connection.query<{ user_id: string | null; tenant_id: string | null }>({
    text: `SELECT user_id, tenant_id FROM sessions WHERE id = $1 AND expires_at > now() FOR UPDATE`,
    values: [sessionId],
  })
  const [row] = rows
  if (row === undefined) return null
  return { userId: row.user_id === null ? null : Number(row.user_id), tenantId: row.tenant_id }
}

/**
 * Gives the session a new cookie id; the old one is invalid after the commit. The row stays, so
 * that pending sign-ins in other tabs and a concurrent sign-out still refer to it.
 */
export async function renewSession(
  connection: Queryable,
  sessionId: string,
  cookieId: string,
): Promise<void> {
  await connection.query({
    text: 'UPDATE sessions SET id_hash = $2 WHERE id = $1',
    values: [sessionId, sha256(cookieId)],
  })
}

/** Records that the user has authenticated again, and restarts the session's absolute limit. */
export async function renewAuthentication(
  connection: Queryable,
  sessionId: string,
  proof: { provider: string; providerSession: string | null; absoluteSeconds: number },
): Promise<void> {
  await connection.query({
    text: `
      UPDATE sessions SET authenticated_at = now(), provider = $2, provider_session = $3,
                          expires_at = now() + make_interval(secs => $4)
      WHERE id = $1`,
    values: [sessionId, proof.provider, proof.providerSession, proof.absoluteSeconds],
  })
}

/** Ends the session of a cookie. @returns false if it had already ended */
export async function endSession(
  connection: Queryable | SystemDatabase,
  cookieId: string,
): Promise<boolean> {
  const { rowCount } = await connection.query({
    text: 'DELETE FROM sessions WHERE id_hash = $1',
    values: [sha256(cookieId)],
  })
  return rowCount === 1
}

/**
 * Ends a session by the id of its row, which stays the same when the cookie id changes.
 * @returns false if it had already ended
 */
export async function endSessionRow(connection: Queryable, sessionId: string): Promise<boolean> {
  const { rowCount } = await connection.query({
    text: 'DELETE FROM sessions WHERE id = $1',
    values: [sessionId],
  })
  return rowCount === 1
}

/** A user's identity at a provider. */
export type Identity = { provider: string; subject: string }

/**
 * The identities of the session's user at the provider of its sign-in. Identities at other
 * providers were not authenticated in this session.
 */
export async function findSessionIdentities(
  systemDb: Queryable,
  sessionId: string,
): Promise<Identity[]> {
  const { rows } = await systemDb.query<Identity>({
    name: 'find-session-identities',
    text: `
      SELECT i.provider, i.provider_user_id AS subject
      FROM sessions s JOIN oauth_identities i ON i.user_id = s.user_id AND i.provider = s.provider
      WHERE s.id = $1`,
    values: [sessionId],
  })
  return rows
}
