import * as oauth from 'oauth4webapi'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import type { SendAsClient, WireOptions } from './client-auth.ts'
import type { ProviderMetadata } from './discovery.ts'
import { ProviderUnavailable, type RefusalReason, SignInRefused } from './errors.ts'
import { expiryToleranceSeconds } from './id-token.ts'

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
export function tokensOf(result: oauth.TokenEndpointResponse): TokenSet {
  const { expires_in: seconds } = result
  return {
    accessToken: result.access_token,
    refreshToken: result.refresh_token ?? null,
    scope: result.scope ?? null,
    expiresIn: seconds === undefined ? null : Math.min(Math.floor(seconds), maxLifetimeSeconds),
  }
}

/** By content type: the library asks for it only once parsing has failed. */
export function isJson(response: Response): boolean {
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';')
  return type.trim().toLowerCase() === 'application/json'
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
