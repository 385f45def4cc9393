import { calculatePKCECodeChallenge } from 'oauth4webapi'

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
