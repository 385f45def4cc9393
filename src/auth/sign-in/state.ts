import type { ClientInfo } from '#src/audit/audit.ts'
import type { PendingSignIn } from '#src/auth/oidc/client.ts'
import { sha256 } from '#src/crypto/hash.ts'
import type { Queryable } from '#src/db/system-database.ts'

/** The purpose of a sign-in at a provider; a link or re-authentication belongs to a user. */
export type Purpose =
  | { kind: 'sign-in'; userId: null }
  | { kind: 'link' | 'reauthenticate'; userId: number }

/** A pending sign-in in one tab of a browser. */
export type SignInState = PendingSignIn & {
  provider: string
  purpose: Purpose
  /** Id of the session's row, which stays the same when the cookie id changes. */
  sessionId: string
  /** Seconds since its start, by database time. */
  ageSeconds: number
}

export type NewSignInState = PendingSignIn & { provider: string }

// Contract 4: pending sign-ins expire after ten minutes.
const lifetimeSeconds = 600

/**
 * Stores a pending sign-in in the browser's session, in one statement. A browser without a session
 * gets an anonymous one that expires with the pending sign-in.
 */
export async function storeSignInState(
  systemDb: Queryable,
  cookieId: string,
  signIn: NewSignInState,
  clientInfo: ClientInfo,
): Promise<void> {
  await systemDb.query({
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
      clientInfo.userAgent,
      clientInfo.ip,
      lifetimeSeconds,
      sha256(signIn.state),
      signIn.provider,
      signIn.nonce,
      signIn.codeVerifier,
    ],
  })
}

/**
 * Stores a pending link or re-authentication in the user's session.
 * @returns false if the session has ended
 */
export async function storeInSession(
  systemDb: Queryable,
  sessionId: string,
  signIn: NewSignInState & { purpose: Exclude<Purpose, { kind: 'sign-in' }> },
): Promise<boolean> {
  const { rowCount } = await systemDb.query({
    text: `
      INSERT INTO sign_in_attempts (state_hash, session_id, user_id, purpose, provider, nonce,
                                    code_verifier, expires_at)
      SELECT $1, id, user_id, $4, $5, $6, $7, now() + make_interval(secs => $8)
      FROM sessions WHERE id = $2 AND user_id = $3 AND expires_at > now()`,
    values: [
      sha256(signIn.state),
      sessionId,
      signIn.purpose.userId,
      signIn.purpose.kind,
      signIn.provider,
      signIn.nonce,
      signIn.codeVerifier,
      lifetimeSeconds,
    ],
  })
  return rowCount === 1
}

type SignInStateRow = {
  provider: string
  nonce: string
  code_verifier: string
  purpose: Purpose['kind']
  user_id: string | null
  session_id: string
  age_seconds: number
}

/**
 * Deletes and returns a pending sign-in; of concurrent callbacks only one gets it. State and cookie
 * id are compared as SHA-256 hashes, so the timing reveals neither.
 * @returns null if the state is unknown, expired, used or from another browser
 */
export async function takeSignInState(
  systemDb: Queryable,
  cookieId: string,
  state: string,
): Promise<SignInState | null> {
  const { rows } = await systemDb.query<SignInStateRow>({
    text: `
      DELETE FROM sign_in_attempts a USING sessions s
      WHERE a.state_hash = $1 AND s.id = a.session_id AND s.id_hash = $2 AND a.expires_at > now()
      RETURNING a.provider, a.nonce, a.code_verifier, a.purpose, a.user_id, a.session_id,
                extract(epoch FROM now() - a.created_at)::float8 AS age_seconds`,
    values: [sha256(state), sha256(cookieId)],
  })
  const [row] = rows
  if (row === undefined) return null
  return {
    provider: row.provider,
    state,
    nonce: row.nonce,
    codeVerifier: row.code_verifier,
    purpose: toPurpose(row),
    sessionId: row.session_id,
    ageSeconds: row.age_seconds,
  }
}

function toPurpose({ purpose, user_id }: SignInStateRow): Purpose {
  if (purpose === 'sign-in' || user_id === null) return { kind: 'sign-in', userId: null }
  return { kind: purpose, userId: Number(user_id) }
}

/**
 * Moves sign-ins that are pending in other tabs to the browser's new session. Links and
 * re-authentications are not moved: they end with the session that started them.
 */
export async function moveSignInStates(
  connection: Queryable,
  fromSessionId: string,
  toCookieId: string,
): Promise<void> {
  await connection.query({
    text: `
      UPDATE sign_in_attempts SET session_id = (SELECT id FROM sessions WHERE id_hash = $2)
      WHERE session_id = $1 AND purpose = 'sign-in'`,
    values: [fromSessionId, sha256(toCookieId)],
  })
}
