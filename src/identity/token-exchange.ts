import * as oauth from 'oauth4webapi'
import { type Clock, unixSeconds } from '#src/clock.ts'
import { expiryToleranceSeconds } from './id-token.ts'
import type { ProviderMetadata } from './provider-metadata.ts'
import { ProviderUnavailable, type RefusalReason, SignInRefused } from './refusal.ts'

export type ClientCredentials = {
  clientId: string
  clientSecrets: readonly [string, ...string[]]
  clientAuth: 'client_secret_post' | 'client_secret_basic'
}

/** The wire options of every call, the same object for all of one provider's calls. */
export type WireOptions = oauth.HttpRequestOptions<'POST', URLSearchParams> &
  oauth.HttpRequestOptions<'GET'>

export type SendCode = (
  metadata: ProviderMetadata,
  callback: URLSearchParams,
  codeVerifier: string,
  redirectUri: string,
) => Promise<Response>

/**
 * Sends codes to the token endpoint. When the provider answers that the client is not who it says
 * (`invalid_client`), each further secret is tried once: client authentication comes before the
 * code is looked at (RFC 6749, 3.2.1 and 5.2), so the code is still good. Any other refusal is
 * final. The secret that worked is the first one tried next time.
 */
export function createCodeSender(
  client: ClientCredentials,
  wire: WireOptions,
  secretSwitched: (position: number) => void,
): SendCode {
  let current = 0
  const authenticate =
    client.clientAuth === 'client_secret_basic' ? oauth.ClientSecretBasic : oauth.ClientSecretPost

  return async function sendCode(metadata, callback, codeVerifier, redirectUri) {
    const first = current
    for (const [step] of client.clientSecrets.entries()) {
      const position = (first + step) % client.clientSecrets.length
      const response = await oauth.authorizationCodeGrantRequest(
        metadata,
        { client_id: client.clientId },
        authenticate(client.clientSecrets[position] ?? client.clientSecrets[0]),
        callback,
        redirectUri,
        codeVerifier,
        wire,
      )
      const error = await tokenError(response)
      if (error === 'invalid_client') continue
      if (position !== first) secretSwitched(position)
      current = position
      if (error !== null) throw new SignInRefused('exchange-rejected', error)
      return response
    }
    throw new SignInRefused('client-rejected', 'invalid_client')
  }
}

/**
 * The `error` of a token error response (RFC 6749, 5.2), or null for any other answer. Read from
 * the body: beside a WWW-Authenticate header, which 401 demands, the library does not look at it.
 */
async function tokenError(response: Response): Promise<string | null> {
  if (response.status !== 400 && response.status !== 401) return null
  const unnamed = response.status === 401 ? 'invalid_client' : null
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null)
  if (typeof body !== 'object' || body === null || !('error' in body)) return unnamed
  return typeof body.error === 'string' ? body.error : unnamed
}

export type RedeemedCode = { claims: oauth.IDToken; idToken: string; accessToken: string }

/**
 * Reads a token response and lets the library judge it and the claims of its id_token. The
 * signature is a separate call.
 * @throws SignInRefused
 */
export async function readTokenResponse(
  metadata: ProviderMetadata,
  clientId: string,
  response: Response,
  nonce: string,
  clock: Clock,
): Promise<RedeemedCode> {
  if (!isJson(response)) throw new SignInRefused('token-response-malformed')
  try {
    const result = await oauth.processAuthorizationCodeResponse(
      metadata,
      {
        client_id: clientId,
        [oauth.clockSkew]: unixSeconds(clock) - Math.floor(Date.now() / 1000),
        // One more than the rule: the library reads the machine's clock a moment later, and
        // `judgeIdToken` draws the exact line.
        [oauth.clockTolerance]: expiryToleranceSeconds + 1,
      },
      response,
      { expectedNonce: nonce, requireIdToken: true },
    )
    const claims = oauth.getValidatedIdTokenClaims(result)
    if (claims === undefined || result.id_token === undefined) {
      throw new SignInRefused('id-token-missing')
    }
    return { claims, idToken: result.id_token, accessToken: result.access_token }
  } catch (error) {
    if (error instanceof SignInRefused || error instanceof ProviderUnavailable) throw error
    throw new SignInRefused(reasonOf(error))
  }
}

/** By content type: the library asks for it only once parsing has failed. */
function isJson(response: Response): boolean {
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
