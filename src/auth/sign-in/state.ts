import type { ClientInfo } from '#src/audit/audit.ts'
import type { PendingSignIn } from '#src/auth/oidc/client.ts'
import { randomKey, sha256 } from '#src/crypto/hash.ts'
import type { Queryable } from '#src/db/system-database.ts'

/** The purpose of a sign-in at a provider; a link or re-authentication belongs to a user. */
export type Purpose =
  | { kind: 'sign-in'; userId: null }
  | { kind: 'link' | 'reauthenticate'; userId: number }

/** A pending sign-in in one tab of a browser, about to be stored. */
export type NewSignInState = PendingSignIn & {
  provider: string
  purpose: Purpose['kind']
  /** Path that the browser goes to afterwards; null for the configured one. */
  returnTo: string | null
}

/** A pending sign-in that a callback has taken. */
export type SignInState = PendingSignIn & {
  provider: string
  purpose: Purpose
  returnTo: string | null
  /** Opens the one transaction that completes the sign-in; kept in memory only. */
  ticket: Uint8Array
  /** Seconds since its start, by database time. */
  ageSeconds: number
}

/** Contract 4: pending sign-ins expire after ten minutes. */
export const signInMinutes = 10

const lifetimeSeconds = signInMinutes * 60

/**
 * Stores a pending sign-in, link or re-authentication in the session of the cookie. For a sign-in, a
 * browser without a session gets an anonymous one that expires with the pending sign-in.
 * @returns false if a link or re-authentication has no live session of its user
 */
export async function storeSignInState(
  connection: Queryable,
  cookieId: string,
  signIn: NewSignInState,
  clientInfo: ClientInfo,
): Promise<boolean> {
  const [row] = await connection.sql<{ stored: boolean }>`
    SELECT start_attempt(${sha256(cookieId)}, ${sha256(signIn.state)}, ${signIn.purpose},
      ${signIn.provider}, ${signIn.nonce}, ${signIn.codeVerifier}, ${clientInfo.userAgent},
      ${clientInfo.ip}, ${lifetimeSeconds}, ${signIn.returnTo}) AS stored`
  return row?.stored === true
}

type SignInStateRow = {
  provider: string
  nonce: string
  code_verifier: string
  purpose: Purpose['kind']
  user_id: string | null
  return_to: string | null
  age_seconds: number
}

/**
 * Takes a pending sign-in, which exchanges its state for a random ticket; of concurrent callbacks
 * only one gets it. State and cookie id are compared as SHA-256 hashes, so the timing reveals
 * neither.
 * @returns null if the state is unknown, expired, used or from another browser
 */
export async function takeSignInState(
  systemDb: Queryable,
  cookieId: string,
  state: string,
): Promise<SignInState | null> {
  const ticket = randomKey()
  const [row] = await systemDb.sql<SignInStateRow>`
    SELECT * FROM take_attempt(${sha256(cookieId)}, ${sha256(state)}, ${ticket})`
  if (row === undefined) return null
  return {
    provider: row.provider,
    state,
    nonce: row.nonce,
    codeVerifier: row.code_verifier,
    purpose: toPurpose(row),
    returnTo: row.return_to,
    ticket,
    ageSeconds: row.age_seconds,
  }
}

function toPurpose({ purpose, user_id }: SignInStateRow): Purpose {
  if (purpose === 'sign-in' || user_id === null) return { kind: 'sign-in', userId: null }
  return { kind: purpose, userId: Number(user_id) }
}
