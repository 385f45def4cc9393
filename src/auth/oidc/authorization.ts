import * as oauth from 'oauth4webapi'
import { calculatePKCECodeChallenge } from 'oauth4webapi'
import { type Issuers, isPublishedIssuer } from './discovery/issuer.ts'
import { SignInRefused } from './errors.ts'

type Client = {
  clientId: string
  scopes: string
  storeTokens: boolean
  /** Null for the query, the default of the standard. */
  responseMode: 'form_post' | null
  /** Configured parameters; those of the request override them. */
  params: Readonly<Record<string, string>>
  /** Parameters that ask for a refresh token, if tokens are stored. */
  offlineParams: Readonly<Record<string, string>>
  oauth2: { pkce: boolean; confirmParams?: Readonly<Record<string, string>> } | null
}

type Request = {
  pending: { state: string; nonce: string; codeVerifier: string }
  redirectUri: string
  /** Further parameters of this sign-in; they cannot override the standard ones. */
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
  const scope = normalizeScopes(client.scopes)
  const { oauth2 } = client
  const isOpenId = oauth2 === null
  const parameters = {
    ...client.params,
    ...(client.storeTokens && client.offlineParams),
    // Providers ignore offline_access without it (OpenID Connect Core 11).
    ...(client.storeTokens && scope.split(' ').includes('offline_access') && { prompt: 'consent' }),
    // Without an id_token the provider cannot say when the user authenticated, only ask them.
    ...(oauth2 === null ? extras : extras.prompt !== undefined && oauth2.confirmParams),
    ...(client.responseMode !== null && { response_mode: client.responseMode }),
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: redirectUri,
    scope,
    state: pending.state,
    ...(isOpenId && { nonce: pending.nonce }),
    ...((oauth2?.pkce ?? true) && {
      code_challenge: await calculatePKCECodeChallenge(pending.codeVerifier),
      code_challenge_method: 'S256',
    }),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url
}

function normalizeScopes(scopes: string): string {
  return [...new Set(scopes.split(' ').filter((scope) => scope !== ''))].join(' ')
}

/**
 * Validates the authorization response: `iss` (RFC 9207), `error` and `code` here; the library
 * checks the state and the flow. The caller has already looked up the state by its hash.
 * @returns the parameters in the form that oauth4webapi expects for the code exchange
 * @throws SignInRefused
 */
export function validateCallback(
  expected: Issuers & { announcesIssuer: boolean },
  clientId: string,
  parameters: URLSearchParams,
  state: string,
): URLSearchParams {
  validateIssuer(expected, parameters.getAll('iss'))
  const errors = parameters.getAll('error')
  if (errors.length > 0) throw new SignInRefused('provider-error', errors.length === 1 && errors[0])
  validateCode(parameters.getAll('code'))
  const judged = new URLSearchParams(
    [...parameters].filter(([name]) => judgedByLibrary.includes(name)),
  )
  try {
    return oauth.validateAuthResponse(
      { issuer: expected.issuer },
      { client_id: clientId },
      judged,
      state,
    )
  } catch {
    throw new SignInRefused('response-malformed')
  }
}

/** Tokens in the response mean another flow, which is refused. */
const judgedByLibrary = ['code', 'state', 'id_token', 'token', 'response']

function validateIssuer(
  { announcesIssuer, ...issuers }: Issuers & { announcesIssuer: boolean },
  named: readonly string[],
): void {
  if (named.length === 0) {
    if (!announcesIssuer) return
    throw new SignInRefused('iss-missing')
  }
  // An empty `iss` is refused as well: the parameter names who answered.
  if (named.length !== 1 || !isPublishedIssuer(issuers, named[0])) {
    throw new SignInRefused('iss-mismatch')
  }
}

function validateCode(codes: readonly string[]): void {
  if (codes.length > 1) throw new SignInRefused('code-doubled')
  if (codes.length === 0 || codes[0] === '') throw new SignInRefused('code-missing')
}
