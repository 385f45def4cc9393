import * as oauth from 'oauth4webapi'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { parseJsonObject } from '#src/runtime/json.ts'
import type { HttpOptions, SendAsClient } from './client-auth.ts'
import type { ProviderMetadata } from './discovery.ts'
import { ProviderUnavailable, type RefusalReason, SignInRefused } from './errors.ts'
import { mediaTypeOf } from './fetch.ts'
import {
  expiryToleranceSeconds,
  matchesAccessTokenHash,
  readHeader,
  validateIdToken,
} from './id-token.ts'
import type { VerifySignature } from './jwks.ts'
import { tokenCharacters, usableTokenMembers, withPresentClaims } from './members.ts'

export type RedeemedCode = {
  claims: oauth.IDToken
  idToken: string
  tokens: TokenSet
}

/** Tokens for the provider's API; never logged, stored only encrypted. */
export type TokenSet = {
  accessToken: string
  refreshToken: string | null
  /** Space-separated; null if the response has none, which then grants the requested scope. */
  scope: string | null
  /** Lifetime of the access token in seconds; null if the response has none. */
  expiresIn: number | null
}

/** Sends a code and its PKCE verifier to the token endpoint. @throws SignInRefused */
export async function sendCode(
  metadata: ProviderMetadata,
  client: oauth.Client,
  sendAsClient: SendAsClient,
  http: HttpOptions,
  code: { callback: URLSearchParams; codeVerifier: string; redirectUri: string },
): Promise<Response> {
  const { response, error } = await sendAsClient((authentication) =>
    oauth.authorizationCodeGrantRequest(
      metadata,
      client,
      authentication,
      code.callback,
      code.redirectUri,
      code.codeVerifier,
      http,
    ),
  )
  if (error === 'invalid_client') throw new SignInRefused('client-rejected', error)
  if (error !== null) throw new SignInRefused('exchange-rejected', error)
  return response
}

/**
 * The client as oauth4webapi expects it, with the difference between the program's clock and the
 * system clock.
 */
export function libraryClient(clientId: string, clock: Clock): oauth.Client {
  return {
    client_id: clientId,
    [oauth.clockSkew]: unixSeconds(clock) - Math.floor(Date.now() / 1000),
    // One second more than the rule, because the library reads the system clock later than this
    // line; `validateIdToken` checks the exact limit.
    [oauth.clockTolerance]: expiryToleranceSeconds + 1,
  }
}

/**
 * Reads a token response; the library validates it and the claims of its id_token. The signature is
 * not verified here.
 * @throws SignInRefused
 */
export async function readTokenResponse(
  metadata: ProviderMetadata,
  client: oauth.Client,
  response: Response,
  nonce: string,
): Promise<RedeemedCode> {
  const read = await readUsable(response)
  if (read === null) throw new SignInRefused('token-response-malformed')
  try {
    const result = await oauth.processAuthorizationCodeResponse(metadata, client, read.response, {
      expectedNonce: nonce,
      requireIdToken: true,
    })
    const claims = oauth.getValidatedIdTokenClaims(result)
    if (claims === undefined || read.idToken === null) throw new SignInRefused('id-token-missing')
    if (!isToken(result.access_token)) throw new SignInRefused('token-response-malformed')
    return { claims, idToken: read.idToken, tokens: tokensOf(result) }
  } catch (error) {
    if (error instanceof SignInRefused || error instanceof ProviderUnavailable) throw error
    throw new SignInRefused(reasonOf(error))
  }
}

type UsableResponse = {
  /** For the library, which stops at any member that has not its form. */
  response: Response
  /** As received, for its header and its signature. */
  idToken: string | null
}

/** @returns null unless it is 200 with a JSON object */
async function readUsable(response: Response): Promise<UsableResponse | null> {
  const isJson = response.status === 200 && mediaTypeOf(response) === 'application/json'
  const body = isJson ? parseJsonObject(await response.text()) : null
  if (body === null) return null
  const members = usableTokenMembers(body)
  const idToken = typeof members.id_token === 'string' ? members.id_token : null
  const id_token = idToken === null ? undefined : withPresentClaims(idToken)
  return { response: Response.json({ ...members, id_token }), idToken }
}

/** The library checks only that it is a string. */
function isToken(accessToken: string): boolean {
  return tokenCharacters.test(accessToken)
}

const maxLifetimeSeconds = 366 * 86_400 // a longer lifetime is a mistake of the provider

/** The tokens of a response that the library has validated. */
function tokensOf(result: oauth.TokenEndpointResponse): TokenSet {
  const { expires_in: seconds } = result
  return {
    accessToken: result.access_token,
    refreshToken: result.refresh_token ?? null,
    scope: result.scope ?? null,
    expiresIn: seconds === undefined ? null : Math.min(Math.floor(seconds), maxLifetimeSeconds),
  }
}

const reasonsByMember: Readonly<Record<string, RefusalReason>> = {
  alg: 'id-token-algorithm',
  iss: 'id-token-issuer',
  aud: 'id-token-audience',
  azp: 'id-token-azp',
  exp: 'id-token-expired',
  nbf: 'id-token-not-yet-valid',
  iat: 'id-token-issued-at',
  nonce: 'id-token-nonce',
  sub: 'id-token-subject',
  id_token: 'id-token-missing',
}

/**
 * Maps an error of the library to a reason code by the member that its message quotes. The sign-in
 * is refused whatever the text is. The error is not passed on, because it contains tokens.
 */
function reasonOf(error: unknown): RefusalReason {
  const message = error instanceof Error ? error.message : ''
  const known = [...message.matchAll(/"(\w+)"/g)].map(([, member = '']) => reasonsByMember[member])
  const reason = known.find((candidate) => candidate !== undefined)
  if (reason !== undefined) return reason
  return /\b(JWT|JWE|ID Token)\b/.test(message) ? 'id-token-malformed' : 'token-response-malformed'
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

type RefreshDeps = {
  metadata: ProviderMetadata
  clientId: string
  sendAsClient: SendAsClient
  http: HttpOptions
  verifySignature: VerifySignature
  clock: Clock
}

// Errors after which the user has to sign in again (RFC 6749, 5.2; OpenID Connect Core 3.1.2.6).
const endingErrors = ['invalid_grant', 'interaction_required', 'login_required', 'consent_required']
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
  const { metadata, clientId, sendAsClient, http, clock } = deps
  const client = libraryClient(clientId, clock)
  try {
    const { response, error } = await sendAsClient((authentication) =>
      oauth.refreshTokenGrantRequest(metadata, client, authentication, refreshToken, http),
    )
    if (error !== null) return resultOfError(error)
    return await readRefreshResponse(deps, client, response, subject)
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

function resultOfError(error: string): RefreshResult {
  if (endingErrors.includes(error)) return { kind: 'ended', reason: 'refresh-rejected' }
  const reason = error === 'invalid_client' ? 'client-rejected' : 'request-rejected'
  return { kind: 'unused', reason, retryAfterSeconds: retrySeconds }
}

async function readRefreshResponse(
  deps: RefreshDeps,
  client: oauth.Client,
  response: Response,
  subject: string,
): Promise<RefreshResult> {
  const lost = { kind: 'ended', reason: 'answer-lost' } as const
  const read = await readUsable(response)
  if (read === null) return lost
  const { idToken } = read
  try {
    const result = await oauth.processRefreshTokenResponse(deps.metadata, client, read.response)
    if (result.token_type !== 'bearer' || !isToken(result.access_token)) return lost
    if (idToken !== null && !(await isSameIdentity(deps, result, idToken, subject))) {
      return { kind: 'ended', reason: 'id-token-changed' }
    }
    return { kind: 'refreshed', tokens: tokensOf(result) }
  } catch {
    // The library validates the id_token together with the response, so its error does not say which
    // of them failed.
    return idToken === null ? lost : { kind: 'ended', reason: 'id-token-changed' }
  }
}

/** A refreshed id_token keeps iss, sub and aud (OpenID Connect Core 12.2). */
async function isSameIdentity(
  { metadata, clientId, verifySignature, clock }: RefreshDeps,
  result: oauth.TokenEndpointResponse,
  idToken: string,
  subject: string,
): Promise<boolean> {
  const claims = oauth.getValidatedIdTokenClaims(result)
  if (claims === undefined) return false
  const header = readHeader(idToken)
  const expected = { clientId, nowSeconds: unixSeconds(clock) }
  if (validateIdToken(header, claims, expected) !== null || claims.sub !== subject) return false
  if (!(await matchesAccessTokenHash(header, claims, result.access_token))) return false
  return (await verifySignature(metadata, idToken, 'sign-in')) === null
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
  metadata: ProviderMetadata,
  client: oauth.Client,
  sendAsClient: SendAsClient,
  http: HttpOptions,
  token: { text: string; kind: TokenKind },
): Promise<RevocationResult> {
  if (metadata.revocation_endpoint === undefined) return 'unsupported'
  const { response, error } = await sendAsClient((authentication) =>
    oauth.revocationRequest(metadata, client, authentication, token.text, {
      ...http,
      additionalParameters: { token_type_hint: token.kind },
    }),
  )
  if (error === 'unsupported_token_type') return 'unsupported'
  return response.status === 200 && error === null ? 'revoked' : 'rejected'
}
