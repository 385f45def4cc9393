import { sha256 } from '#src/crypto/digest.ts'
import type { Queryable } from '#src/db/identity-plane.ts'
import type { Device } from './audit.ts'

/** A sign-in under way in one tab: what the callback must bring back, and to whom. */
export type Attempt = { provider: string; state: string; nonce: string; codeVerifier: string }

// Contract 4: pending sign-ins live ten minutes.
const lifetimeSeconds = 600

/**
 * Stores a pending sign-in, tied to the browser's session; a browser without one gets an
 * anonymous session that lives as long as the attempt. One statement, one commit.
 */
export async function storeAttempt(
  plane: Queryable,
  cookieId: string,
  attempt: Attempt,
  device: Device,
): Promise<void> {
  await plane.query({
    text: `
      WITH browser AS (
        INSERT INTO sessions AS s (id_hash, user_agent, ip, expires_at)
        VALUES ($1, $2, $3, now() + make_interval(secs => $4))
        ON CONFLICT (id_hash) DO UPDATE
          SET expires_at = greatest(s.expires_at, CASE WHEN s.user_id IS NULL THEN excluded.expires_at END)
        RETURNING id
      )
      INSERT INTO sign_in_attempts (state_hash, session_id, provider, nonce, code_verifier, expires_at)
      SELECT $5, id, $6, $7, $8, now() + make_interval(secs => $4) FROM browser`,
    values: [
      sha256(cookieId),
      device.userAgent,
      device.ip,
      lifetimeSeconds,
      sha256(attempt.state),
      attempt.provider,
      attempt.nonce,
      attempt.codeVerifier,
    ],
  })
}

/**
 * Takes the attempt out for good: of parallel callbacks one gets it. Matching is on SHA-256 of the
 * state and of the cookie, so the time it takes says nothing about either.
 * @returns null when the state is unknown, expired, used, or of another browser
 */
export async function takeAttempt(
  plane: Queryable,
  cookieId: string,
  state: string,
): Promise<Attempt | null> {
  const { rows } = await plane.query<{ provider: string; nonce: string; code_verifier: string }>({
    text: `
      DELETE FROM sign_in_attempts a USING sessions s
      WHERE a.state_hash = $1 AND s.id = a.session_id AND s.id_hash = $2 AND a.expires_at > now()
      RETURNING a.provider, a.nonce, a.code_verifier`,
    values: [sha256(state), sha256(cookieId)],
  })
  const [row] = rows
  if (row === undefined) return null
  return { provider: row.provider, state, nonce: row.nonce, codeVerifier: row.code_verifier }
}

/** The browser's other tabs go on under its new session. */
export async function moveAttempts(
  connection: Queryable,
  fromCookieId: string,
  toCookieId: string,
): Promise<void> {
  await connection.query({
    text: `
      UPDATE sign_in_attempts SET session_id = (SELECT id FROM sessions WHERE id_hash = $2)
      WHERE session_id = (SELECT id FROM sessions WHERE id_hash = $1)`,
    values: [sha256(fromCookieId), sha256(toCookieId)],
  })
}
