import * as oauth from 'oauth4webapi'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { type JsonObject, parseJsonObject } from '#src/runtime/json.ts'
import type { OptionalEndpoint } from '../discovery/discovery.ts'
import { requireEndpoint } from '../discovery/discovery.ts'
import type { VerifySignature } from '../discovery/jwks.ts'
import { ProviderUnavailable, SignInRefused } from '../errors.ts'
import { mediaTypeOf } from '../fetch.ts'
import { decodeToken, isMediaType, present, textOf } from '../token.ts'
import type { HttpOptions, SendAsClient } from './client-auth.ts'
import {
  type IdTokenRules,
  matchesAccessTokenHash,
  validateOrigin,
  validateTimes,
} from './id-token.ts'

/** Tokens for the provider's API; never logged, stored only encrypted. */
export type TokenSet = {
  accessToken: string
  refreshToken: string | null
  /** Space-separated; null if the response has none, which then grants the requested scope. */
  scope: string | null
  /** Lifetime of the access token in seconds; null if the response has none. */
  expiresIn: number | null
}

/** Where the requests of one client go. */
export type TokenEndpoint = {
  issuer: string
  tokenUrl: string
  client: oauth.Client
  sendAsClient: SendAsClient
  http: HttpOptions
}

/** Sends a code and its PKCE verifier to the token endpoint. @throws SignInRefused */
export async function sendCode(
  endpoint: TokenEndpoint,
  code: { callback: URLSearchParams; codeVerifier: string | null; redirectUri: string },
): Promise<Response> {
  const { issuer, tokenUrl, client, sendAsClient, http } = endpoint
  const { response, error } = await sendAsClient((authentication) =>
    oauth.authorizationCodeGrantRequest(
      { issuer, token_endpoint: tokenUrl },
      client,
      authentication,
      code.callback,
      code.redirectUri,
      code.codeVerifier ?? oauth.nopkce,
      http,
    ),
  )
  if (error === 'invalid_client') throw new SignInRefused('client-rejected', error)
  const found = error ?? (await errorWithStatus200(response))
  if (found !== null) throw new SignInRefused('exchange-rejected', found)
  return response
}

/** A token response (RFC 6749, 5.1); `idToken` is null if there is none. */
export type TokenResponse = { tokens: TokenSet; idToken: string | null }

/**
 * Reads a token response. Optional members that are null, empty or badly typed count as absent.
 * @param knownType of the tokens, if the response may leave it out
 * @returns null unless it is JSON with an access token of type Bearer
 */
export async function readTokenResponse(
  response: Response,
  knownType?: 'Bearer',
): Promise<TokenResponse | null> {
  if (response.status !== 200 || !isMediaType(mediaTypeOf(response), ['json'])) return null
  const body = parseJsonObject(await response.text())
  if (body === null) return null
  const accessToken = tokenOf(body.access_token)
  if (accessToken === null || !isBearer(present(body.token_type) ?? knownType)) return null
  const tokens = {
    accessToken,
    refreshToken: tokenOf(body.refresh_token),
    scope: scopeOf(body),
    expiresIn: lifetimeOf(body.expires_in),
  }
  return { tokens, idToken: textOf(body.id_token) }
}

function isBearer(type: unknown): boolean {
  return typeof type === 'string' && type.toLowerCase() === 'bearer'
}

/** Printable ASCII (RFC 6749, appendix A). */
function tokenOf(value: unknown): string | null {
  return typeof value === 'string' && /^[ -~]+$/.test(value) ? value : null
}

// RFC 6749, appendix A: printable ASCII without quote and backslash.
const scopePattern = /^[ !#-[\]-~]+$/

/** Some providers send a list, or separate the scopes with commas, as GitHub does. */
function scopeOf({ scope }: JsonObject): string | null {
  const text = Array.isArray(scope) ? scope.join(' ') : scope
  if (typeof text !== 'string' || !scopePattern.test(text)) return null
  return text.split(/[ ,]+/).filter(Boolean).join(' ') || null
}

const maxLifetimeSeconds = 366 * 86_400 // a longer lifetime is a mistake of the provider

function lifetimeOf(value: unknown): number | null {
  const seconds = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value
  if (typeof seconds !== 'number' || !(seconds >= 0)) return null
  return Math.min(Math.floor(seconds), maxLifetimeSeconds)
}

/** Codes in the audit log for grants that ended. */
export type GrantEnd =
  /** The provider no longer accepts the refresh token. */
  | 'refresh-rejected'
  /** The token was sent and no usable response arrived, so it may have been used. */
  | 'answer-lost'
  /** The id_token of the response has another issuer, subject or audience. */
  | 'id-token-changed'

export type RefreshResult =
  /** Without a new refresh token the old one remains valid. */
  | { kind: 'refreshed'; tokens: TokenSet }
  /** The refresh token must never be sent again. */
  | { kind: 'ended'; reason: GrantEnd }
  /** The provider did not use the refresh token; it can be sent again. */
  | { kind: 'unused'; reason: string; retryAfterSeconds: number }

export type SendRefresh = (refreshToken: string, subject: string) => Promise<RefreshResult>

export type RefreshDeps = {
  endpoint: TokenEndpoint
  /** Null for a provider without id_tokens. */
  idToken: {
    rules: IdTokenRules
    keysUrl: string
    verifySignature: VerifySignature
    clock: Clock
  } | null
}

// Errors after which the user has to sign in again (RFC 6749, 5.2; OpenID Connect Core 3.1.2.6).
// `bad_refresh_token` is what GitHub sends for `invalid_grant`.
const endingErrors = [
  'invalid_grant',
  'interaction_required',
  'login_required',
  'consent_required',
  'bad_refresh_token',
]
const retrySeconds = 30

/**
 * Sends a refresh token once and reads the response. No scope is sent: the request is for the
 * granted scope (RFC 6749, 6).
 */
export async function refreshTokens(
  deps: RefreshDeps,
  refreshToken: string,
  subject: string,
): Promise<RefreshResult> {
  const { issuer, tokenUrl, client, sendAsClient, http } = deps.endpoint
  try {
    const { response, error } = await sendAsClient((authentication) =>
      oauth.refreshTokenGrantRequest(
        { issuer, token_endpoint: tokenUrl },
        client,
        authentication,
        refreshToken,
        http,
      ),
    )
    const found = error ?? (await errorWithStatus200(response))
    if (found !== null) return resultOfError(found)
    return await readRefreshResponse(deps, response, subject)
  } catch (error) {
    if (!(error instanceof ProviderUnavailable)) throw error
    const { reason, retryAfterSeconds } = error
    // After 429 or 5xx the token counts as unused; after a timeout or a broken connection it may
    // have been used.
    const unused = error.unsent || reason === 'server-error'
    return unused
      ? { kind: 'unused', reason, retryAfterSeconds }
      : { kind: 'ended', reason: 'answer-lost' }
  }
}

/** Some providers send errors with status 200; such a response has no access token. */
async function errorWithStatus200(response: Response): Promise<string | null> {
  if (response.status !== 200) return null
  const body = parseJsonObject(await response.clone().text())
  return body !== null && textOf(body.access_token) === null ? textOf(body.error) : null
}

function resultOfError(error: string): RefreshResult {
  if (endingErrors.includes(error)) return { kind: 'ended', reason: 'refresh-rejected' }
  const reason = error === 'invalid_client' ? 'client-rejected' : 'request-rejected'
  return { kind: 'unused', reason, retryAfterSeconds: retrySeconds }
}

async function readRefreshResponse(
  { idToken: expected }: RefreshDeps,
  response: Response,
  subject: string,
): Promise<RefreshResult> {
  // The grant is known to be of this type. To end it for a missing word would be irrecoverable.
  const read = await readTokenResponse(response, 'Bearer')
  if (read === null) return { kind: 'ended', reason: 'answer-lost' }
  const { tokens, idToken } = read
  if (expected === null || idToken === null) return { kind: 'refreshed', tokens }
  const isSame = await isSameIdentity(expected, { idToken, subject, ...tokens })
  return isSame ? { kind: 'refreshed', tokens } : { kind: 'ended', reason: 'id-token-changed' }
}

/**
 * A refreshed id_token keeps iss, sub and aud (OpenID Connect Core 12.2). What else it says is not
 * used, so that it ends no grant; nor do keys that cannot be fetched, because the response came from the token
 * endpoint itself (3.1.3.7, step 6).
 */
async function isSameIdentity(
  { rules, keysUrl, verifySignature, clock }: NonNullable<RefreshDeps['idToken']>,
  refreshed: { idToken: string; subject: string; accessToken: string },
): Promise<boolean> {
  const token = decodeToken(refreshed.idToken)
  if (token === null || validateOrigin(token, rules) !== null) return false
  const fault = validateTimes(token.claims, unixSeconds(clock))
  if (fault === 'expired' || token.claims.sub !== refreshed.subject) return false
  if (!(await matchesAccessTokenHash(token, refreshed.accessToken))) return false
  try {
    return (await verifySignature(keysUrl, 'sign-in', token)) === null
  } catch (error) {
    if (error instanceof ProviderUnavailable) return true
    throw error
  }
}

export type TokenKind = 'refresh_token' | 'access_token'

/**
 * `unsupported`: the provider has no revocation endpoint or does not revoke tokens of this type;
 * `rejected`: the provider refused the request.
 */
export type RevocationResult = 'revoked' | 'unsupported' | 'rejected'

/**
 * Revokes one token (RFC 7009). A token that the provider does not know counts as revoked, so the
 * call can be repeated.
 * @throws ProviderUnavailable
 */
export async function revokeToken(
  { issuer, client, sendAsClient, http }: Omit<TokenEndpoint, 'tokenUrl'>,
  found: OptionalEndpoint,
  token: { text: string; kind: TokenKind },
): Promise<RevocationResult> {
  if (found === null) return 'unsupported'
  const metadata = { issuer, revocation_endpoint: requireEndpoint(found) }
  const { response, error } = await sendAsClient((authentication) =>
    oauth.revocationRequest(metadata, client, authentication, token.text, {
      ...http,
      additionalParameters: { token_type_hint: token.kind },
    }),
  )
  if (error === 'unsupported_token_type') return 'unsupported'
  return response.status === 200 && error === null ? 'revoked' : 'rejected'
}
