import { isJsonObject, type JsonObject } from '#src/runtime/json.ts'
import { resultWithin } from '#src/runtime/timeout.ts'
import type { ProviderMetadata } from './discovery/discovery.ts'
import { type Issuers, isIssuerOf } from './discovery/issuer.ts'
import { hasType, present, type Token } from './token.ts'
import { isAudience, isSubject, validateTimes } from './tokens/id-token.ts'

/** Codes in the audit log for refused logout tokens, each with its meaning. */
const logoutRefusals = {
  'logout-request-malformed': 'The request is not a form with exactly one `logout_token`.',
  'logout-token-malformed': 'The logout token is not a signed JWT with a JSON object as payload.',
  'logout-token-algorithm': 'The logout token is signed with an algorithm that is not configured.',
  'logout-token-type': 'The header `typ` is neither absent nor `JWT` nor `logout+jwt`.',
  'logout-token-issuer': '`iss` of the logout token is not the issuer of the provider.',
  'logout-token-audience':
    '`aud` of the logout token is not this client, or names an audience beside it that is not configured.',
  'logout-token-expired': '`exp` of the logout token is missing, in the past or not a number.',
  'logout-token-issued-at':
    '`iat` of the logout token is missing, not a number or too far from the current time.',
  'logout-token-lifetime': 'The logout token is valid for more than a day.',
  'logout-token-event': 'The logout token does not contain the back-channel logout event.',
  'logout-token-nonce': 'The logout token contains a `nonce`; only an id_token may.',
  'logout-token-subject': '`sub` and `sid` are both missing, or one of them is invalid.',
  'logout-token-jti': 'The logout token has no `jti`.',
  'logout-token-key': 'No published key matches the logout token, or several do.',
  'logout-token-signature': 'The signature of the logout token is invalid.',
  'logout-token-replayed': 'A logout token with this `jti` was received before.',
  'logout-provider-unavailable':
    'The keys of the provider cannot be fetched, so the signature cannot be verified.',
} as const

export type LogoutRefusal = keyof typeof logoutRefusals

/** The facts of a verified logout token; at least one of `subject` and `sessionId` is set. */
export type ProviderLogout = { subject: string | null; sessionId: string | null; jti: string }

const eventName = 'http://schemas.openid.net/event/backchannel-logout'

/**
 * The checks of OpenID Connect Back-Channel Logout 1.0, 2.4 and 2.6, except the signature and the
 * single use. They run before the signature check, so that an invalid token causes no key fetch.
 * Times and audience follow the rules for an id_token (2.6, step 3). Other claims are ignored.
 */
export function validateLogoutToken(
  { header, claims }: Pick<Token, 'header' | 'claims'>,
  expected: Issuers & {
    clientId: string
    audiences: readonly string[]
    algorithms: readonly string[]
    nowSeconds: number
  },
): LogoutRefusal | null {
  const { alg } = header
  if (typeof alg !== 'string' || !expected.algorithms.includes(alg)) return 'logout-token-algorithm'
  if (!hasType(header, ['jwt', 'logout+jwt'])) return 'logout-token-type'
  if (!isIssuerOf(expected, claims)) return 'logout-token-issuer'
  const { clientId, audiences } = expected
  const azp = present(claims.azp)
  if (!isAudience(claims.aud, { clientId, audiences, azp })) return 'logout-token-audience'
  const fault = validateTimes(claims, expected.nowSeconds)
  if (fault !== null) return `logout-token-${fault}`
  if (!hasLogoutEvent(claims.events)) return 'logout-token-event'
  if ('nonce' in claims) return 'logout-token-nonce'
  if (!hasSubjectOrSession(claims)) return 'logout-token-subject'
  if (typeof claims.jti !== 'string' || claims.jti === '') return 'logout-token-jti'
  return null
}

/** Reads the claims of a token that passed `validateLogoutToken` and the signature check. */
export function readLogoutToken({ sub, sid, jti }: JsonObject): ProviderLogout {
  return {
    subject: isSubject(sub) ? sub : null,
    sessionId: isSessionId(sid) ? sid : null,
    jti: String(jti),
  }
}

/** The event's value must be an object; its content is ignored. */
function hasLogoutEvent(events: unknown): boolean {
  return isJsonObject(events) && Object.hasOwn(events, eventName) && isJsonObject(events[eventName])
}

/**
 * `sub`, `sid` or both must be there, each valid as in an id_token: they say whose sessions end. Null
 * and empty text count as absent.
 */
function hasSubjectOrSession({ sub, sid }: JsonObject): boolean {
  const [hasSubject, hasSession] = [sub, sid].map((value) => present(value) !== null)
  if (!hasSubject && !hasSession) return false
  return (!hasSubject || isSubject(sub)) && (!hasSession || isSessionId(sid))
}

function isSessionId(sid: unknown): sid is string {
  return typeof sid === 'string' && /^\P{Cc}{1,255}$/u.test(sid)
}

const metadataMs = 500

/**
 * The URL where a browser ends its session at the provider (OpenID Connect RP-Initiated Logout 1.0,
 * 2). It has no `id_token_hint`, because the id_token is not stored (specification 12); the
 * provider may therefore ask the user to confirm.
 * @returns null if the provider has no such endpoint or its metadata is not available within 500 ms
 */
export async function endSessionUrl(
  metadata: Promise<ProviderMetadata>,
  request: { clientId: string; returnUri: string; returnParameter: string; state: string },
): Promise<URL | null> {
  const known = await resultWithin(metadataMs, metadata).catch(() => null)
  const endpoint = known?.end_session_endpoint ?? null
  if (endpoint === null || 'fault' in endpoint) return null
  const url = new URL(endpoint.url)
  url.searchParams.set('client_id', request.clientId)
  url.searchParams.set(request.returnParameter, request.returnUri)
  url.searchParams.set('state', request.state)
  return url
}
