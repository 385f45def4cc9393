import * as oauth from 'oauth4webapi'
import { calculatePKCECodeChallenge } from 'oauth4webapi'
import { SignInRefused } from './errors.ts'

type Client = { clientId: string; scopes: string; storeTokens: boolean }

type Request = {
  pending: { state: string; nonce: string; codeVerifier: string }
  redirectUri: string
  /** Further parameters; they cannot take the place of one that is always sent. */
  extras: Readonly<Record<string, string>>
  /** Space-separated, beyond the configured ones. */
  extraScopes: string
}

/**
 * Where to send the browser, with every parameter of the specification's authorize request. The
 * code verifier stays here: only its SHA-256 is in the URL.
 */
export async function authorizationRequest(
  endpoint: string,
  client: Client,
  { pending, redirectUri, extras, extraScopes }: Request,
): Promise<URL> {
  const url = new URL(endpoint)
  const parameters = {
    ...extras,
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: redirectUri,
    scope: joinScopes(client.scopes, extraScopes),
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: await calculatePKCECodeChallenge(pending.codeVerifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  // Without it a provider ignores offline_access (OpenID Connect Core 11).
  if (client.storeTokens && parameters.scope.split(' ').includes('offline_access')) {
    url.searchParams.set('prompt', 'consent')
  }
  return url
}

function joinScopes(...lists: readonly string[]): string {
  const scopes = lists.flatMap((list) => list.split(' ')).filter((scope) => scope !== '')
  return [...new Set(scopes)].join(' ')
}

/**
 * Judges the parameters of an authorization response: `iss` (RFC 9207), `error`, `code`, then what
 * the library adds: the expected state, nothing doubled, no other flow. The caller has already
 * looked `state` up in constant time.
 * @returns the parameters as oauth4webapi wants them for the exchange
 * @throws SignInRefused
 */
export function judgeCallback(
  metadata: oauth.AuthorizationServer,
  clientId: string,
  parameters: URLSearchParams,
  state: string,
): URLSearchParams {
  judgeIssuer(metadata, parameters.getAll('iss'))
  const errors = parameters.getAll('error')
  if (errors.length > 0) throw new SignInRefused('provider-error', errors.length === 1 && errors[0])
  judgeCode(parameters.getAll('code'))
  try {
    return oauth.validateAuthResponse(metadata, { client_id: clientId }, parameters, state)
  } catch {
    throw new SignInRefused('response-malformed')
  }
}

function judgeIssuer(metadata: oauth.AuthorizationServer, issuers: readonly string[]): void {
  if (issuers.length === 0) {
    if (metadata.authorization_response_iss_parameter_supported !== true) return
    throw new SignInRefused('iss-missing')
  }
  // An empty `iss` counts as present here; the library takes it for an absent one.
  if (issuers.length !== 1 || issuers[0] !== metadata.issuer) {
    throw new SignInRefused('iss-mismatch')
  }
}

function judgeCode(codes: readonly string[]): void {
  if (codes.length > 1) throw new SignInRefused('code-doubled')
  if (codes.length === 0 || codes[0] === '') throw new SignInRefused('code-missing')
}
