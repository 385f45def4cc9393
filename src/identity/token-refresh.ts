import * as oauth from 'oauth4webapi'
import type { SendAsClient, WireOptions } from '#src/auth/oidc/client-auth.ts'
import type { ProviderMetadata } from '#src/auth/oidc/discovery.ts'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import { judgeIdToken, keepsAccessTokenHash, readHeader } from '#src/auth/oidc/id-token.ts'
import type { VerifySignature } from '#src/auth/oidc/jwks.ts'
import { isJson, libraryClient, type TokenSet, tokensOf } from '#src/auth/oidc/token-endpoint.ts'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'

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
  return typeof body === 'object' && body !== null && 'id_token' in body
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
