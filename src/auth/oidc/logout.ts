import {
  compactVerify,
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JSONWebKeySet,
} from 'jose'
import { isJsonObject, type JsonObject } from '#src/runtime/json.ts'
import { resultWithin } from '#src/runtime/timeout.ts'
import type { ProviderMetadata } from './discovery.ts'
import type { ProviderFetch } from './fetch.ts'
import { isOnlyAudience, isSubject, judgeTimes } from './id-token.ts'
import { fetchKeySet, type KeyCache, type WithKeys } from './jwks.ts'

/** Why a logout token was refused: the stable codes of the audit log, each with its meaning. */
const logoutRefusals = {
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

export type LogoutToken = { header: JsonObject; claims: JsonObject }

const eventName = 'http://schemas.openid.net/event/backchannel-logout'

/** @returns null when the text is no compact JWS over a JSON object, or uses `crit` */
export function decodeLogoutToken(token: string): LogoutToken | null {
  try {
    const header: JsonObject = decodeProtectedHeader(token)
    const claims: JsonObject = decodeJwt(token)
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
export function readLogoutToken({ sub, sid, jti }: JsonObject): ProviderLogout {
  return {
    subject: typeof sub === 'string' ? sub : null,
    sessionId: typeof sid === 'string' ? sid : null,
    jti: String(jti),
  }
}

/** The member's value is an object; empty as a rule, and whatever stands in it says nothing. */
function carriesEvent(events: unknown): boolean {
  return isJsonObject(events) && Object.hasOwn(events, eventName) && isJsonObject(events[eventName])
}

/** `sub`, `sid` or both, each in the form an id_token may give it. */
function namesSomebody({ sub, sid }: JsonObject): boolean {
  if (sub === undefined && sid === undefined) return false
  return (sub === undefined || isSubject(sub)) && (sid === undefined || isSessionId(sid))
}

function isSessionId(sid: unknown): boolean {
  return typeof sid === 'string' && /^\P{Cc}{1,255}$/u.test(sid)
}

export type VerifyLogoutSignature = (
  metadata: ProviderMetadata,
  token: string,
) => Promise<LogoutRefusal | null>

const keyLifetimeSeconds = 300 // as long as the library keeps the keys of id_tokens

/**
 * Checks logout tokens against the keys that id_tokens are checked against: one cache, one window
 * for renewals, the same pinned algorithms. oauth4webapi has no function for it, so `jose` does it.
 * @throws ProviderUnavailable
 */
export function createLogoutSignatureCheck(
  algorithms: readonly string[],
  fetch: ProviderFetch,
  withKeys: WithKeys,
): VerifyLogoutSignature {
  const underWay = new WeakMap<KeyCache, Promise<JSONWebKeySet>>()

  /** Tokens that arrive together share one fetch. */
  function keysOf(metadata: ProviderMetadata, cache: KeyCache): Promise<JSONWebKeySet> {
    // The library stamps by the machine's clock, wherever the program's own stands.
    const now = Math.floor(Date.now() / 1000)
    const { jwks, uat } = cache
    if (jwks !== undefined && now - uat < keyLifetimeSeconds) {
      return Promise.resolve(jwks as JSONWebKeySet)
    }
    const pending = underWay.get(cache) ?? load()
    underWay.set(cache, pending)
    return pending

    async function load(): Promise<JSONWebKeySet> {
      try {
        const keys = await fetchKeySet(metadata.jwks_uri, fetch)
        Object.assign(cache, { jwks: keys, uat: now })
        return keys
      } finally {
        underWay.delete(cache)
      }
    }
  }

  return async function verifyLogoutSignature(metadata, token) {
    let refusal: LogoutRefusal | null = null
    const found = await withKeys(metadata, async (copy, cache) => {
      const keys = createLocalJWKSet(await keysOf(copy, cache))
      try {
        await compactVerify(token, keys, { algorithms: [...algorithms] })
      } catch (error) {
        if (error instanceof errors.JWKSNoMatchingKey) return false
        refusal =
          error instanceof errors.JWKSMultipleMatchingKeys
            ? 'logout-token-key'
            : 'logout-token-signature'
      }
      return true
    })
    return found ? refusal : 'logout-token-key'
  }
}

const metadataMs = 500

/**
 * Where to send the browser to end the session at the provider as well (OpenID Connect RP-Initiated
 * Logout 1.0, 2). Without `id_token_hint`: the id_token is not kept (specification 12), so the
 * provider may ask the person to confirm.
 *
 * Nothing waits for the provider: what is not known within half a second is not offered.
 * @returns null when the provider has no such endpoint or cannot be asked now
 */
export async function endSessionUrl(
  metadata: Promise<ProviderMetadata>,
  request: { clientId: string; returnUri: string; state: string },
): Promise<URL | null> {
  const known = await resultWithin(metadataMs, metadata).catch(() => null)
  if (known?.end_session_endpoint === undefined) return null
  const url = new URL(known.end_session_endpoint)
  url.searchParams.set('client_id', request.clientId)
  url.searchParams.set('post_logout_redirect_uri', request.returnUri)
  url.searchParams.set('state', request.state)
  return url
}
