import { decodeJwt, decodeProtectedHeader } from 'jose'
import { isOnlyAudience, isSubject, judgeTimes } from './id-token.ts'

/** Why a logout token was refused: the stable codes of the audit log, each with its meaning. */
export const logoutRefusals = {
  'logout-request-malformed': 'The request is no form with exactly one `logout_token`.',
  'logout-token-malformed': 'The logout token is not a signed JWT with an object inside.',
  'logout-token-algorithm': 'The logout token is signed with an algorithm that is not configured.',
  'logout-token-type': 'The header `typ` is neither absent nor `JWT` nor `logout+jwt`.',
  'logout-token-issuer': 'The logout token was issued by someone else.',
  'logout-token-audience': 'The logout token is not for this client alone.',
  'logout-token-expired': '`exp` of the logout token is missing, past or no integer.',
  'logout-token-issued-at': '`iat` of the logout token is missing, no integer or too far from now.',
  'logout-token-lifetime': 'The logout token lives for more than a day.',
  'logout-token-event': 'The logout token does not carry the back-channel logout event.',
  'logout-token-nonce': 'The logout token carries a `nonce`, as only an id_token may.',
  'logout-token-subject': 'The logout token names neither a subject nor a session, or not as text.',
  'logout-token-jti': 'The logout token has no `jti`.',
  'logout-token-key': 'No single published key fits the logout token.',
  'logout-token-signature': 'The signature of the logout token is not one of the provider.',
  'logout-token-replayed': 'A logout token with this `jti` was received before.',
  'logout-provider-unavailable':
    'The keys of the provider cannot be had, so nothing can be proven.',
} as const

export type LogoutRefusal = keyof typeof logoutRefusals

/** What a verified logout token asks for; at least one of `subject` and `sessionId` is there. */
export type ProviderLogout = { subject: string | null; sessionId: string | null; jti: string }

type Json = Readonly<Record<string, unknown>>
export type LogoutToken = { header: Json; claims: Json }

const eventName = 'http://schemas.openid.net/event/backchannel-logout'

/** @returns null when the text is no compact JWS over a JSON object, or uses `crit` */
export function decodeLogoutToken(token: string): LogoutToken | null {
  try {
    const header: Json = decodeProtectedHeader(token)
    const claims: Json = decodeJwt(token)
    // Nothing critical is understood here, an unencoded payload (RFC 7797) least of all.
    return header.crit === undefined ? { header, claims } : null
  } catch {
    return null
  }
}

/**
 * The rules of OpenID Connect Back-Channel Logout 1.0, 2.4 and 2.6, but for the signature and the
 * single use. Judged before the signature, so that a token that cannot pass costs the provider no
 * call. Times and audience follow the same rules as those of an id_token (2.6, step 3). Claims
 * that are not named here are ignored.
 */
export function judgeLogoutToken(
  { header, claims }: LogoutToken,
  expected: {
    issuer: string
    clientId: string
    algorithms: readonly string[]
    nowSeconds: number
  },
): LogoutRefusal | null {
  const { alg, typ } = header
  if (typeof alg !== 'string' || !expected.algorithms.includes(alg)) return 'logout-token-algorithm'
  if (typ !== undefined && typ !== 'JWT' && typ !== 'logout+jwt') return 'logout-token-type'
  if (claims.iss !== expected.issuer) return 'logout-token-issuer'
  if (!isOnlyAudience(claims.aud, expected.clientId)) return 'logout-token-audience'
  const fault = judgeTimes(claims, expected.nowSeconds)
  if (fault !== null) return `logout-token-${fault}`
  if (!carriesEvent(claims.events)) return 'logout-token-event'
  if ('nonce' in claims) return 'logout-token-nonce'
  if (!namesSomebody(claims)) return 'logout-token-subject'
  if (typeof claims.jti !== 'string' || claims.jti === '') return 'logout-token-jti'
  return null
}

/** The facts of a token that passed `judgeLogoutToken` and whose signature is good. */
export function readLogoutToken({ sub, sid, jti }: Json): ProviderLogout {
  return {
    subject: typeof sub === 'string' ? sub : null,
    sessionId: typeof sid === 'string' ? sid : null,
    jti: String(jti),
  }
}

/** The member's value is an object; empty as a rule, and whatever stands in it says nothing. */
function carriesEvent(events: unknown): boolean {
  if (typeof events !== 'object' || events === null || !Object.hasOwn(events, eventName))
    return false
  const event: unknown = (events as Json)[eventName]
  return typeof event === 'object' && event !== null && !Array.isArray(event)
}

/** `sub`, `sid` or both, each in the form an id_token may give it. */
function namesSomebody({ sub, sid }: Json): boolean {
  if (sub === undefined && sid === undefined) return false
  return (sub === undefined || isSubject(sub)) && (sid === undefined || isSessionId(sid))
}

function isSessionId(sid: unknown): boolean {
  return typeof sid === 'string' && /^\P{Cc}{1,255}$/u.test(sid)
}
