import { readLanguageTag } from '#src/http/headers/accept-language.ts'
import type { JsonObject } from '#src/runtime/json.ts'
import { hasHiddenCharacters, hiddenCharacters } from '#src/runtime/text.ts'
import { isIssuerOf } from '../discovery/issuer.ts'
import type { RefusalReason } from '../errors.ts'
import { hasType, isNumericDate, present, type Token } from '../token.ts'

export type IdTokenClaims = JsonObject

/** The facts of a verified id_token. Provider name and `subject` are the key of the identity. */
export type VerifiedSignIn = {
  issuer: string
  subject: string
  /** At most 320 characters, without blanks. */
  email: string | null
  /** True only if the provider says so by its rule, and there is an e-mail address. */
  emailVerified: boolean
  name: string | null
  /** The language that the person reads, BCP 47. */
  locale: string | null
  /** The session at the provider (`sid`), for back-channel logout. */
  sessionId: string | null
  /**
   * `auth_time`: Unix seconds of the last authentication at the provider; null unless positive.
   * Some providers always send 0.
   */
  authenticatedAt: number | null
}

/** What an id_token of this provider must say. */
export type IdTokenRules = {
  issuer: string
  /** Template of the issuers of a provider with tenants, see issuer.ts; null for one issuer. */
  issuerTemplate: string | null
  clientId: string
  /** Further audiences that may be named beside the client. */
  audiences: readonly string[]
  idTokenAlgorithms: readonly string[]
}

/** The claim that says whether the address is verified, and whether text may say so. */
export type EmailVerifiedRule = { claim: string; asText: boolean }

// Sign-in rules, Callback.
const issuedAtToleranceSeconds = 600
const maxLifetimeSeconds = 86_400
/** Tolerated clock difference: an id_token is accepted until this long after `exp`. */
export const expiryToleranceSeconds = 30
const maxEmailLength = 320 // RFC 5321: 64 + @ + 255
const maxTextLength = 255

/**
 * Every check of an id_token but its signature (OpenID Connect Core 3.1.3.7). They run before the
 * signature check, so that an invalid token causes no key fetch. Members that are not used cannot
 * refuse a token.
 * @returns the reason to refuse the token, or null
 */
export function validateIdToken(
  { header, claims }: Pick<Token, 'header' | 'claims'>,
  rules: IdTokenRules,
  expected: { nonce: string; nowSeconds: number },
): RefusalReason | null {
  const fault = validateOrigin({ header, claims }, rules)
  if (fault !== null) return fault
  if (!hasType(header, ['jwt'])) return 'id-token-type'
  const timeFault = validateTimes(claims, expected.nowSeconds)
  if (timeFault !== null) return `id-token-${timeFault}`
  const { nbf } = claims
  if (isNumericDate(nbf) && nbf - expiryToleranceSeconds > expected.nowSeconds) {
    return 'id-token-not-yet-valid'
  }
  if (claims.nonce !== expected.nonce) return 'id-token-nonce'
  return null
}

/** Who signed the token, about whom and for whom: what a refreshed id_token repeats. */
export function validateOrigin(
  { header, claims }: Pick<Token, 'header' | 'claims'>,
  { idTokenAlgorithms, clientId, audiences, ...issuers }: IdTokenRules,
): RefusalReason | null {
  const { alg } = header
  if (typeof alg !== 'string' || !idTokenAlgorithms.includes(alg)) return 'id-token-algorithm'
  if (!isIssuerOf(issuers, claims)) return 'id-token-issuer'
  const azp = present(claims.azp)
  if (azp !== null && azp !== clientId) return 'id-token-azp'
  if (!isAudience(claims.aud, { clientId, audiences, azp })) return 'id-token-audience'
  return isSubject(claims.sub) ? null : 'id-token-subject'
}

/** Checks `exp` and `iat`. */
export function validateTimes(
  { iat, exp }: IdTokenClaims,
  nowSeconds: number,
): 'expired' | 'issued-at' | 'lifetime' | null {
  if (!isNumericDate(exp) || exp + expiryToleranceSeconds <= nowSeconds) return 'expired'
  if (!isNumericDate(iat) || Math.abs(nowSeconds - iat) > issuedAtToleranceSeconds) {
    return 'issued-at'
  }
  return exp - iat > maxLifetimeSeconds ? 'lifetime' : null
}

/**
 * True if `at_hash` matches the access token: the left half of its hash with the hash function of
 * the signature algorithm (OpenID Connect Core 3.1.3.6). True without `at_hash`; false for an
 * algorithm without a hash function.
 */
export async function matchesAccessTokenHash(
  { header, claims }: Pick<Token, 'header' | 'claims'>,
  accessToken: string,
): Promise<boolean> {
  const expected = present(claims.at_hash)
  if (expected === null) return true
  const hash = hashOf(header.alg)
  if (hash === null) return false
  const digest = await crypto.subtle.digest(hash, new TextEncoder().encode(accessToken))
  return expected === Buffer.from(digest, 0, digest.byteLength / 2).toString('base64url')
}

/**
 * Reads the claims of a token that passed every check. Text that is too long or has control
 * characters becomes null.
 */
export function readIdToken(
  issuer: string,
  claims: IdTokenClaims,
  rule: EmailVerifiedRule = { claim: 'email_verified', asText: false },
): VerifiedSignIn {
  const email = readAddress(claims.email)
  return {
    issuer,
    subject: String(claims.sub),
    email,
    emailVerified: email !== null && saysVerified(claims[rule.claim], rule.asText),
    name: readName(claims.name),
    locale: readLanguageTag(claims.locale),
    sessionId: readText(claims.sid, maxTextLength),
    authenticatedAt: readTime(claims.auth_time),
  }
}

function saysVerified(value: unknown, asText: boolean): boolean {
  return value === true || (asText && ['true', '1', 1].some((text) => text === value))
}

/** Beside this client only trusted audiences; then `azp` must name the client (Core 3.1.3.7). */
export function isAudience(
  aud: unknown,
  trusted: { clientId: string; audiences: readonly string[]; azp: unknown },
): boolean {
  const { clientId, audiences, azp } = trusted
  const named: unknown[] = Array.isArray(aud) ? aud : [aud]
  const others = named.filter((audience) => audience !== clientId)
  if (named.length - others.length !== 1) return false
  if (others.length === 0) return true
  return azp === clientId && others.every((other) => audiences.some((known) => known === other))
}

/** 1 to 255 printable ASCII characters. */
export function isSubject(value: unknown): value is string {
  return typeof value === 'string' && /^[ -~]{1,255}$/.test(value)
}

function readTime(value: unknown): number | null {
  return isNumericDate(value) && value >= 1 && value <= Number.MAX_SAFE_INTEGER
    ? Math.floor(value)
    : null
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

function readText(value: unknown, maxLength: number): string | null {
  if (typeof value !== 'string' || value === '' || value.length > maxLength) return null
  return notOpaque.test(value) ? null : value
}

/** Blanks at its ends are a provider's mistake; what has blanks inside is no address. */
function readAddress(value: unknown): string | null {
  const address = readText(typeof value === 'string' ? value.trim() : value, maxEmailLength)
  return address === null || /\s/.test(address) ? null : address
}

/** A name may have the joiners that its orthography needs. */
export function readName(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > maxTextLength) return null
  return controls.test(value) || hasHiddenCharacters(value) ? null : value
}
