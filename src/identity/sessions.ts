import { sha256 } from '#src/crypto/digest.ts'
import type { IdentityPlane, Queryable } from '#src/db/identity-plane.ts'
import type { Device } from './audit.ts'

/** Who the session belongs to and what they are right now; read anew with every request. */
export type Caller = {
  sessionId: string
  userId: number
  email: string | null
  plan: string | null
  createdAt: Date
  tenantId: string | null
  role: string | null
  department: string | null
}

export type SessionLimits = { idleSeconds: number; absoluteSeconds: number }

/** A live session: anonymous while a first sign-in is pending. */
export type LiveSession = { caller: Caller | null }

type SessionRow = {
  id: string
  user_id: string | null
  email: string | null
  plan: string | null
  created_at: Date
  tenant_id: string | null
  role: string | null
  department: string | null
}

// A session is marked as seen at most this often, so that reading it is seldom a write.
const seenEverySeconds = 60

/**
 * Session, user and membership in one statement, by the hash of the id in the cookie. Idle and
 * absolute limits are judged here, by database time; nothing is cached.
 */
export async function findSession(
  plane: Queryable,
  cookieId: string,
  limits: SessionLimits,
): Promise<LiveSession | null> {
  const { rows } = await plane.query<SessionRow>({
    name: 'find-session',
    text: `
      WITH live AS (
        SELECT id, user_id, tenant_id, last_seen_at FROM sessions
        WHERE id_hash = $1 AND expires_at > now()
          AND last_seen_at > now() - make_interval(secs => $2)
      ), seen AS (
        UPDATE sessions SET last_seen_at = now()
        WHERE id = (SELECT id FROM live WHERE last_seen_at < now() - make_interval(secs => $3))
      )
      SELECT live.id, live.user_id, u.email, u.plan, u.created_at,
             live.tenant_id, m.role, m.department
      FROM live
      LEFT JOIN users u ON u.id = live.user_id
      LEFT JOIN memberships m ON m.tenant_id = live.tenant_id AND m.user_id = live.user_id`,
    values: [sha256(cookieId), limits.idleSeconds, seenEverySeconds],
  })
  const [row] = rows
  return row === undefined ? null : { caller: toCaller(row) }
}

function toCaller(row: SessionRow): Caller | null {
  if (row.user_id === null) return null
  return {
    sessionId: row.id,
    userId: Number(row.user_id),
    email: row.email,
    plan: row.plan,
    createdAt: row.created_at,
    tenantId: row.tenant_id,
    role: row.role,
    department: row.department,
  }
}

/** Inserts the session of a user who has just authenticated; the only place that makes one. */
export async function createSession(
  connection: Queryable,
  session: {
    cookieId: string
    userId: number
    tenantId: string | null
    provider: string
    providerSession: string | null
    absoluteSeconds: number
    device: Device
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
      session.device.userAgent,
      session.device.ip,
      session.absoluteSeconds,
    ],
  })
}

/** Ends a session for good. @returns false when it was not there any more */
export async function endSession(
  connection: Queryable | IdentityPlane,
  cookieId: string,
): Promise<boolean> {
  const { rowCount } = await connection.query({
    text: 'DELETE FROM sessions WHERE id_hash = $1',
    values: [sha256(cookieId)],
  })
  return rowCount === 1
}
