import * as oauth from 'oauth4webapi'
import { calculatePKCECodeChallenge } from 'oauth4webapi'
import { SignInRefused } from './errors.ts'

type Client = { clientId: string; scopes: string; storeTokens: boolean }

type Request = {
  pending: { state: string; nonce: string; codeVerifier: string }
  redirectUri: string
  /** Further parameters; they cannot override the standard ones. */
  extras: Readonly<Record<string, string>>
}

/**
 * Builds the URL of the authorization request (specification, Authorize request). The URL contains
 * the code challenge, never the code verifier.
 */
export async function authorizationRequest(
  endpoint: string,
  client: Client,
  { pending, redirectUri, extras }: Request,
): Promise<URL> {
  const url = new URL(endpoint)
  const parameters = {
    ...extras,
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: redirectUri,
    scope: normalizeScopes(client.scopes),
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: await calculatePKCECodeChallenge(pending.codeVerifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  // Providers ignore offline_access without it (OpenID Connect Core 11).
  if (client.storeTokens && parameters.scope.split(' ').includes('offline_access')) {
    url.searchParams.set('prompt', 'consent')
  }
  return url
}

function normalizeScopes(scopes: string): string {
  return [...new Set(scopes.split(' ').filter((scope) => scope !== ''))].join(' ')
}

/**
 * Validates the authorization response: `iss` (RFC 9207), `error` and `code` here; the library
 * checks the state, repeated parameters and the flow. The caller has already looked up the state
 * by its hash.
 * @returns the parameters in the form that oauth4webapi expects for the code exchange
 * @throws SignInRefused
 */
export function validateCallback(
  metadata: oauth.AuthorizationServer,
  clientId: string,
  parameters: URLSearchParams,
  state: string,
): URLSearchParams {
  validateIssuer(metadata, parameters.getAll('iss'))
  const errors = parameters.getAll('error')
  if (errors.length > 0) throw new SignInRefused('provider-error', errors.length === 1 && errors[0])
  validateCode(parameters.getAll('code'))
  try {
    return oauth.validateAuthResponse(metadata, { client_id: clientId }, parameters, state)
  } catch {
    throw new SignInRefused('response-malformed')
  }
}

function validateIssuer(metadata: oauth.AuthorizationServer, issuers: readonly string[]): void {
  if (issuers.length === 0) {
    if (metadata.authorization_response_iss_parameter_supported !== true) return
    throw new SignInRefused('iss-missing')
  }
  // An empty `iss` is refused here; the library would treat it as absent.
  if (issuers.length !== 1 || issuers[0] !== metadata.issuer) {
    throw new SignInRefused('iss-mismatch')
  }
}

function validateCode(codes: readonly string[]): void {
  if (codes.length > 1) throw new SignInRefused('code-doubled')
  if (codes.length === 0 || codes[0] === '') throw new SignInRefused('code-missing')
}
