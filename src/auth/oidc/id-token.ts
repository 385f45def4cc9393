import type { RefusalReason } from './errors.ts'

export type IdTokenHeader = { alg: unknown; typ?: unknown }
export type IdTokenClaims = Readonly<Record<string, unknown>>

/** What a verified id_token says; `subject` with the provider's name is the key of the identity. */
export type VerifiedSignIn = {
  issuer: string
  subject: string
  /** At most 320 characters, as the provider spells it. */
  email: string | null
  /** True only for the JSON boolean `true` beside an e-mail address. */
  emailVerified: boolean
  name: string | null
  /** The provider's session (`sid`), for back-channel logout. */
  sessionId: string | null
  /** `auth_time`: Unix seconds at which the person last authenticated; null unless an integer. */
  authenticatedAt: number | null
}

// Sign-in rules, Callback.
const issuedAtToleranceSeconds = 600
const maxLifetimeSeconds = 86_400
/** Seconds after `exp` in which an id_token still passes: clocks differ. */
export const expiryToleranceSeconds = 30
const maxEmailLength = 320 // RFC 5321: 64 + @ + 255
const maxTextLength = 255

/**
 * The rules for an id_token that the library leaves to its caller: form of `sub`, one audience,
 * any `azp`, integer times near `nowSeconds`, lifetime, header `typ`. Judged before the signature,
 * so that a token that cannot pass costs the provider no call.
 * @returns why the token is refused, or null when it keeps the rules
 */
export function judgeIdToken(
  header: IdTokenHeader,
  claims: IdTokenClaims,
  expected: { clientId: string; nowSeconds: number },
): RefusalReason | null {
  const { sub, azp } = claims
  if (header.typ !== undefined && header.typ !== 'JWT') return 'id-token-type'
  if (!isOnlyAudience(claims.aud, expected.clientId)) return 'id-token-audience'
  if (azp !== undefined && azp !== expected.clientId) return 'id-token-azp'
  const fault = judgeTimes(claims, expected.nowSeconds)
  if (fault !== null) return `id-token-${fault}`
  if (!isSubject(sub)) return 'id-token-subject'
  return null
}

/** `exp` and `iat` of a provider's token, which must be there as integers. */
export function judgeTimes(
  { iat, exp }: IdTokenClaims,
  nowSeconds: number,
): 'expired' | 'issued-at' | 'lifetime' | null {
  if (!isInteger(exp) || exp + expiryToleranceSeconds <= nowSeconds) return 'expired'
  if (!isInteger(iat) || Math.abs(nowSeconds - iat) > issuedAtToleranceSeconds) return 'issued-at'
  return exp - iat > maxLifetimeSeconds ? 'lifetime' : null
}

/**
 * Whether `at_hash` binds this access token: the left half of its hash under the hash function of
 * the signature (OpenID Connect Core 3.1.3.6). Absent is fine; an algorithm without one is not.
 */
export async function keepsAccessTokenHash(
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

/** The facts of a token that passed every check. Text the database could not hold is left out. */
export function readIdToken(issuer: string, claims: IdTokenClaims): VerifiedSignIn {
  const email = text(claims.email, maxEmailLength)
  return {
    issuer,
    subject: String(claims.sub),
    email,
    emailVerified: email !== null && claims.email_verified === true,
    name: text(claims.name, maxTextLength),
    sessionId: text(claims.sid, maxTextLength),
    authenticatedAt: isInteger(claims.auth_time) ? claims.auth_time : null,
  }
}

/** Of a token whose header the library has parsed before: it judged `alg` by it. */
export function readHeader(idToken: string): IdTokenHeader {
  const [encoded = ''] = idToken.split('.')
  return JSON.parse(Buffer.from(encoded, 'base64url').toString())
}

/** Our client id and nothing else, as text or as a list of one. */
export function isOnlyAudience(aud: unknown, clientId: string): boolean {
  if (!Array.isArray(aud)) return aud === clientId
  return aud.length === 1 && aud[0] === clientId
}

/** 1 to 255 printable ASCII characters. */
export function isSubject(value: unknown): value is string {
  return typeof value === 'string' && /^[ -~]{1,255}$/.test(value)
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function hashOf(algorithm: unknown): 'SHA-256' | 'SHA-384' | 'SHA-512' | null {
  if (typeof algorithm !== 'string') return null
  if (algorithm === 'EdDSA' || algorithm === 'Ed25519') return 'SHA-512'
  if (/^(RS|PS|ES)256$/.test(algorithm)) return 'SHA-256'
  if (/^(RS|PS|ES)384$/.test(algorithm)) return 'SHA-384'
  return /^(RS|PS|ES)512$/.test(algorithm) ? 'SHA-512' : null
}

function text(value: unknown, maxLength: number): string | null {
  if (typeof value !== 'string' || value === '' || value.length > maxLength) return null
  return /\p{Cc}/u.test(value) ? null : value
}
