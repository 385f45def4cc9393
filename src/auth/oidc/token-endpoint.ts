import * as oauth from 'oauth4webapi'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { isJsonObject } from '#src/runtime/json.ts'
import type { SendAsClient, WireOptions } from './client-auth.ts'
import type { ProviderMetadata } from './discovery.ts'
import { ProviderUnavailable, type RefusalReason, SignInRefused } from './errors.ts'
import { mediaTypeOf } from './fetch.ts'
import {
  expiryToleranceSeconds,
  judgeIdToken,
  keepsAccessTokenHash,
  readHeader,
} from './id-token.ts'
import type { VerifySignature } from './jwks.ts'

export type RedeemedCode = {
  claims: oauth.IDToken
  idToken: string
  tokens: TokenSet
}

/** What the provider gave for its API; never logged, stored only sealed. */
export type TokenSet = {
  accessToken: string
  refreshToken: string | null
  /** Space-separated; null where the answer names none: it is then what was asked for. */
  scope: string | null
  /** Seconds the access token lives; null when the provider does not say. */
  expiresIn: number | null
}

/** Sends a code to the token endpoint, with the verifier that proves it was asked for here. */
export async function sendCode(
  metadata: ProviderMetadata,
  client: oauth.Client,
  sendAsClient: SendAsClient,
  wire: WireOptions,
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
      wire,
    ),
  )
  if (error === 'invalid_client') throw new SignInRefused('client-rejected', error)
  if (error !== null) throw new SignInRefused('exchange-rejected', error)
  return response
}

/** What each response is read with: the client, and the clock its times are judged by. */
export function libraryClient(clientId: string, clock: Clock): oauth.Client {
  return {
    client_id: clientId,
    [oauth.clockSkew]: unixSeconds(clock) - Math.floor(Date.now() / 1000),
    // One more than the rule: the library reads the machine's clock a moment later, and
    // `judgeIdToken` draws the exact line.
    [oauth.clockTolerance]: expiryToleranceSeconds + 1,
  }
}

/**
 * Reads a token response and lets the library judge it and the claims of its id_token. The
 * signature is a separate call.
 * @throws SignInRefused
 */
export async function readTokenResponse(
  metadata: ProviderMetadata,
  client: oauth.Client,
  response: Response,
  nonce: string,
): Promise<RedeemedCode> {
  if (!isJson(response)) throw new SignInRefused('token-response-malformed')
  try {
    const result = await oauth.processAuthorizationCodeResponse(metadata, client, response, {
      expectedNonce: nonce,
      requireIdToken: true,
    })
    const claims = oauth.getValidatedIdTokenClaims(result)
    if (claims === undefined || result.id_token === undefined) {
      throw new SignInRefused('id-token-missing')
    }
    return { claims, idToken: result.id_token, tokens: tokensOf(result) }
  } catch (error) {
    if (error instanceof SignInRefused || error instanceof ProviderUnavailable) throw error
    throw new SignInRefused(reasonOf(error))
  }
}

const maxLifetimeSeconds = 366 * 86_400 // beyond it a number is a mistake

/** The tokens of an answer the library has judged. */
function tokensOf(result: oauth.TokenEndpointResponse): TokenSet {
  const { expires_in: seconds } = result
  return {
    accessToken: result.access_token,
    refreshToken: result.refresh_token ?? null,
    scope: result.scope ?? null,
    expiresIn: seconds === undefined ? null : Math.min(Math.floor(seconds), maxLifetimeSeconds),
  }
}

/** By content type: the library asks for it only once parsing has failed. */
function isJson(response: Response): boolean {
  return mediaTypeOf(response) === 'application/json'
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
 * The library's verdict as a reason code. Its message names the member in quotes; only the label
 * hangs on that text, the refusal never. The error itself is dropped: it holds tokens.
 */
function reasonOf(error: unknown): RefusalReason {
  const message = error instanceof Error ? error.message : ''
  const known = [...message.matchAll(/"(\w+)"/g)].map(([, member = '']) => reasonsByMember[member])
  const reason = known.find((candidate) => candidate !== undefined)
  if (reason !== undefined) return reason
  return /\b(JWT|JWE|ID Token)\b/.test(message) ? 'id-token-malformed' : 'token-response-malformed'
}

/** Why a grant is over: the stable codes of the audit log. */
export type GrantEnd =
  /** The provider says that the refresh token is no longer good. */
  | 'refresh-rejected'
  /** The token was sent and no usable answer came: it may be spent. */
  | 'answer-lost'
  /** The id_token of the answer is not one for this person, by this provider, for this client. */
  | 'id-token-changed'

export type RefreshAnswer =
  /** Without a refresh token the old one stays good. */
  | { kind: 'refreshed'; tokens: TokenSet }
  /** The refresh token must never be sent again. */
  | { kind: 'ended'; reason: GrantEnd }
  /** The provider did not take the refresh token: it can be sent another time. */
  | { kind: 'untouched'; reason: string; retryAfterSeconds: number }

export type SendRefresh = (refreshToken: string, subject: string) => Promise<RefreshAnswer>

type Conversation = {
  metadata: ProviderMetadata
  clientId: string
  sendAsClient: SendAsClient
  wire: WireOptions
  verifySignature: VerifySignature
  clock: Clock
}

// Answers of providers that say: only the person can mend this (RFC 6749, 5.2; Core 3.1.2.6).
const endingErrors = ['invalid_grant', 'interaction_required', 'login_required', 'consent_required']
const retrySeconds = 30

/**
 * Sends a refresh token, once, and judges what comes back. No scope is sent, so that none is ever
 * asked for beyond the granted ones (RFC 6749, 6).
 */
export async function refreshTokens(
  conversation: Conversation,
  refreshToken: string,
  subject: string,
): Promise<RefreshAnswer> {
  const { metadata, clientId, sendAsClient, wire, clock } = conversation
  const client = libraryClient(clientId, clock)
  try {
    const { response, error } = await sendAsClient((authentication) =>
      oauth.refreshTokenGrantRequest(metadata, client, authentication, refreshToken, wire),
    )
    if (error !== null) return answerFor(error)
    return await judgeAnswer(conversation, client, response, subject)
  } catch (error) {
    if (!(error instanceof ProviderUnavailable)) throw error
    const { reason, retryAfterSeconds } = error
    // An answer, if only 503, is the provider's word that it did nothing; silence is not.
    const untouched = error.unsent || reason === 'server-error'
    return untouched
      ? { kind: 'untouched', reason, retryAfterSeconds }
      : { kind: 'ended', reason: 'answer-lost' }
  }
}

function answerFor(error: string): RefreshAnswer {
  if (endingErrors.includes(error)) return { kind: 'ended', reason: 'refresh-rejected' }
  const reason = error === 'invalid_client' ? 'client-rejected' : 'request-rejected'
  return { kind: 'untouched', reason, retryAfterSeconds: retrySeconds }
}

async function judgeAnswer(
  conversation: Conversation,
  client: oauth.Client,
  response: Response,
  subject: string,
): Promise<RefreshAnswer> {
  const lost = { kind: 'ended', reason: 'answer-lost' } as const
  if (response.status !== 200 || !isJson(response)) return lost
  const hasIdToken = await namesIdToken(response)
  try {
    const result = await oauth.processRefreshTokenResponse(conversation.metadata, client, response)
    if (result.token_type !== 'bearer') return lost
    if (
      result.id_token !== undefined &&
      !(await keepsIdentity(conversation, result, response, subject))
    ) {
      return { kind: 'ended', reason: 'id-token-changed' }
    }
    return { kind: 'refreshed', tokens: tokensOf(result) }
  } catch {
    return hasIdToken ? { kind: 'ended', reason: 'id-token-changed' } : lost
  }
}

/** The library judges `iss`, `aud`, times and form of an id_token together with the answer. */
async function namesIdToken(response: Response): Promise<boolean> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null)
  return isJsonObject(body) && 'id_token' in body
}

/** A refreshed id_token keeps iss, sub and aud (OpenID Connect Core 12.2). */
async function keepsIdentity(
  { metadata, clientId, verifySignature, clock }: Conversation,
  result: oauth.TokenEndpointResponse,
  response: Response,
  subject: string,
): Promise<boolean> {
  const claims = oauth.getValidatedIdTokenClaims(result)
  if (claims === undefined || result.id_token === undefined) return false
  const header = readHeader(result.id_token)
  const expected = { clientId, nowSeconds: unixSeconds(clock) }
  if (judgeIdToken(header, claims, expected) !== null || claims.sub !== subject) return false
  if (!(await keepsAccessTokenHash(header, claims, result.access_token))) return false
  await verifySignature(metadata, response)
  return true
}

export type TokenKind = 'refresh_token' | 'access_token'

/** `unsupported`: there is nothing to call; `rejected`: the provider refused the request. */
export type RevocationAnswer = 'revoked' | 'unsupported' | 'rejected'

/**
 * Revokes one token (RFC 7009). A token the provider does not know counts as revoked, so doing it
 * again is harmless.
 * @throws ProviderUnavailable when trying again may help
 */
export async function revokeToken(
  metadata: ProviderMetadata,
  client: oauth.Client,
  sendAsClient: SendAsClient,
  wire: WireOptions,
  token: { text: string; kind: TokenKind },
): Promise<RevocationAnswer> {
  if (metadata.revocation_endpoint === undefined) return 'unsupported'
  const { response, error } = await sendAsClient((authentication) =>
    oauth.revocationRequest(metadata, client, authentication, token.text, {
      ...wire,
      additionalParameters: { token_type_hint: token.kind },
    }),
  )
  if (error === 'unsupported_token_type') return 'unsupported'
  return response.status === 200 && error === null ? 'revoked' : 'rejected'
}
