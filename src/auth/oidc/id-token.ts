import { hasHiddenCharacters, hiddenCharacters } from '#src/runtime/text.ts'
import type { RefusalReason } from './errors.ts'
import { presentMembers, typeOf } from './members.ts'

export type IdTokenHeader = { alg: unknown; typ?: unknown }
export type IdTokenClaims = Readonly<Record<string, unknown>>

/** The facts of a verified id_token. Provider name and `subject` are the key of the identity. */
export type VerifiedSignIn = {
  issuer: string
  subject: string
  /** At most 320 characters, as the provider sent it. */
  email: string | null
  /** True only if the claim is the JSON boolean `true` and there is an e-mail address. */
  emailVerified: boolean
  name: string | null
  /** The session at the provider (`sid`), for back-channel logout. */
  sessionId: string | null
  /**
   * `auth_time`: whole Unix seconds of the last authentication at the provider; null unless positive.
   * Some providers always send 0.
   */
  authenticatedAt: number | null
}

// Sign-in rules, Callback.
const issuedAtToleranceSeconds = 600
const maxLifetimeSeconds = 86_400
/** Tolerated clock difference: an id_token is accepted until this long after `exp`. */
export const expiryToleranceSeconds = 30
const maxEmailLength = 320 // RFC 5321: 64 + @ + 255
const maxTextLength = 255

/**
 * The checks of an id_token that the library leaves to its caller: form of `sub`, one audience,
 * `azp`, times near `nowSeconds`, lifetime, header `typ`. They run before the signature
 * check, so that an invalid token causes no key fetch.
 * @returns the reason to refuse the token, or null
 */
export function validateIdToken(
  header: IdTokenHeader,
  claims: IdTokenClaims,
  expected: { clientId: string; nowSeconds: number },
): RefusalReason | null {
  const { sub, azp } = claims
  if (header.typ !== undefined && typeOf(header) !== 'jwt') return 'id-token-type'
  if (!isOnlyAudience(claims.aud, expected.clientId)) return 'id-token-audience'
  if (azp !== undefined && azp !== expected.clientId) return 'id-token-azp'
  const fault = validateTimes(claims, expected.nowSeconds)
  if (fault !== null) return `id-token-${fault}`
  if (!isSubject(sub)) return 'id-token-subject'
  return null
}

/** Checks `exp` and `iat`: a NumericDate may have a fraction (RFC 7519, 2). */
export function validateTimes(
  { iat, exp }: IdTokenClaims,
  nowSeconds: number,
): 'expired' | 'issued-at' | 'lifetime' | null {
  if (!isNumber(exp) || exp + expiryToleranceSeconds <= nowSeconds) return 'expired'
  if (!isNumber(iat) || Math.abs(nowSeconds - iat) > issuedAtToleranceSeconds) return 'issued-at'
  return exp - iat > maxLifetimeSeconds ? 'lifetime' : null
}

/**
 * True if `at_hash` matches the access token: the left half of its hash with the hash function of
 * the signature algorithm (OpenID Connect Core 3.1.3.6). True without `at_hash`; false for an
 * algorithm without a hash function.
 */
export async function matchesAccessTokenHash(
  header: IdTokenHeader,
  claims: IdTokenClaims,
  accessToken: string,
): Promise<boolean> {
  if (claims.at_hash === undefined) return true
  const hash = hashOf(header.alg)
  if (hash === null) return false
  const digest = await crypto.subtle.digest(hash, new TextEncoder().encode(accessToken))
  const half = Buffer.from(digest, 0, digest.byteLength / 2)
  return claims.at_hash === half.toString('base64url')
}

/**
 * Reads the claims of a token that passed every check. Text that is too long or has control
 * characters becomes null.
 */
export function readIdToken(issuer: string, claims: IdTokenClaims): VerifiedSignIn {
  const email = text(claims.email, maxEmailLength)
  return {
    issuer,
    subject: String(claims.sub),
    email,
    emailVerified: email !== null && claims.email_verified === true,
    name: nameOf(claims.name),
    sessionId: text(claims.sid, maxTextLength),
    authenticatedAt: isPositiveTime(claims.auth_time) ? Math.floor(claims.auth_time) : null,
  }
}

/**
 * Parses the header; the library has already parsed it once to check `alg`, so this cannot fail.
 */
export function readHeader(idToken: string): IdTokenHeader {
  const [encoded = ''] = idToken.split('.')
  const { alg, ...others } = presentMembers(
    JSON.parse(Buffer.from(encoded, 'base64url').toString()),
  )
  return { alg, ...others }
}

/** True if the audience is this client alone, as a string or as a list with one entry. */
export function isOnlyAudience(aud: unknown, clientId: string): boolean {
  if (!Array.isArray(aud)) return aud === clientId
  return aud.length === 1 && aud[0] === clientId
}

/** 1 to 255 printable ASCII characters. */
export function isSubject(value: unknown): value is string {
  return typeof value === 'string' && /^[ -~]{1,255}$/.test(value)
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value)
}

function isPositiveTime(value: unknown): value is number {
  return isNumber(value) && value > 0 && value <= Number.MAX_SAFE_INTEGER
}

function hashOf(algorithm: unknown): 'SHA-256' | 'SHA-384' | 'SHA-512' | null {
  if (typeof algorithm !== 'string') return null
  if (algorithm === 'EdDSA' || algorithm === 'Ed25519') return 'SHA-512'
  if (/^(RS|PS|ES)256$/.test(algorithm)) return 'SHA-256'
  if (/^(RS|PS|ES)384$/.test(algorithm)) return 'SHA-384'
  return /^(RS|PS|ES)512$/.test(algorithm) ? 'SHA-512' : null
}

const controls = /\p{Cc}/u
const notOpaque = new RegExp(`[\\p{Cc}${hiddenCharacters}]`, 'u')

function text(value: unknown, maxLength: number): string | null {
  if (typeof value !== 'string' || value === '' || value.length > maxLength) return null
  return notOpaque.test(value) ? null : value
}

/** A name may have the joiners that its orthography needs. */
function nameOf(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > maxTextLength) return null
  return controls.test(value) || hasHiddenCharacters(value) ? null : value
}
