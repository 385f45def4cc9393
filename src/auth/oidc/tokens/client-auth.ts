import { SignJWT } from 'jose'
import * as oauth from 'oauth4webapi'
import type { ClientCredentials } from '#src/config/providers/providers.ts'
import type { AssertionKey } from '#src/crypto/jwk.ts'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { isJsonObject } from '#src/runtime/json.ts'

/** HTTP options of every call; all calls to one provider share one object. */
export type HttpOptions = oauth.HttpRequestOptions<'POST', URLSearchParams> &
  oauth.HttpRequestOptions<'GET'>

/** `error` is the code of an OAuth error response (RFC 6749, 5.2), null for any other response. */
type ClientResponse = { response: Response; error: string | null }

export type SendAsClient = (
  send: (authentication: oauth.ClientAuth) => Promise<Response>,
) => Promise<ClientResponse>

/**
 * Sends requests with client authentication. After `invalid_client` each further secret is tried
 * once: the provider authenticates the client before it looks at the code or token (RFC 6749, 3.2.1
 * and 5.2), so these are still unused. Any other error is final. The next request starts with the
 * secret that worked.
 */
export function createClientSender(
  client: ClientCredentials,
  secretSwitched: (position: number) => void,
  clock: Clock,
): SendAsClient {
  const [first, ...others] = authentications(client, clock)
  let current = 0

  return async function sendAsClient(send) {
    const methods = [first, ...others]
    const start = current
    for (const [step] of methods.entries()) {
      const position = (start + step) % methods.length
      const response = await send(methods[position] ?? first)
      const error = await errorOf(response)
      const isLast = step === methods.length - 1
      if (error === 'invalid_client') {
        if (isLast) return { response, error }
        continue
      }
      if (position !== start) secretSwitched(position)
      current = position
      return { response, error }
    }
    throw new Error('a client without credentials')
  }
}

function authentications(
  client: ClientCredentials,
  clock: Clock,
): readonly [oauth.ClientAuth, ...oauth.ClientAuth[]] {
  const [first, ...rest] = all()
  if (first === undefined) throw new Error('a client without credentials')
  return [first, ...rest]

  function all(): oauth.ClientAuth[] {
    const { clientAuth, clientSecrets } = client
    if (clientAuth === 'private_key_jwt') return [assertion(client.clientKey)]
    if (clientAuth === 'signed_secret') return [signedSecret(client, clock)]
    return clientSecrets.map(
      clientAuth === 'client_secret_basic' ? oauth.ClientSecretBasic : oauth.ClientSecretPost,
    )
  }
}

const secretSeconds = 300

/**
 * A client secret that is a token, signed for each request with the key of a team (Sign in with
 * Apple, “Creating a client secret”). The provider is its audience.
 */
function signedSecret({ clientKey, secretIssuer }: ClientCredentials, clock: Clock) {
  if (clientKey === null) throw new Error('signed_secret without a private key')
  const { key, kid, alg } = clientKey
  const authenticate: oauth.ClientAuth = async (as, { client_id }, body) => {
    const now = unixSeconds(clock)
    const secret = await new SignJWT()
      .setProtectedHeader({ alg, kid })
      .setIssuer(secretIssuer)
      .setSubject(client_id)
      .setAudience(as.issuer)
      .setIssuedAt(now)
      .setExpirationTime(now + secretSeconds)
      .sign(key)
    body.set('client_id', client_id)
    body.set('client_secret', secret)
  }
  return authenticate
}

/** RFC 7523: a new assertion for each request, with the issuer as its only audience. */
function assertion(clientKey: AssertionKey | null): oauth.ClientAuth {
  if (clientKey === null) throw new Error('private_key_jwt without a private key')
  const { key, kid, alg } = clientKey
  return oauth.PrivateKeyJwt(
    { key, kid },
    {
      // For this curve the library writes `Ed25519`; most providers expect `EdDSA`.
      [oauth.modifyAssertion]: (header) => {
        header.alg = alg
      },
    },
  )
}

/** What GitHub and Slack send for `invalid_client`, with status 200. */
const rejectedClients: readonly unknown[] = ['incorrect_client_credentials', 'bad_client_secret']

/**
 * Reads the `error` member of the body. The library ignores it when the response has the
 * WWW-Authenticate header that status 401 requires.
 */
async function errorOf(response: Response): Promise<string | null> {
  if (![200, 400, 401].includes(response.status)) return null
  const defaultError = response.status === 401 ? 'invalid_client' : null
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null)
  const error = isJsonObject(body) ? body.error : null
  if (rejectedClients.includes(error)) return 'invalid_client'
  if (response.status === 200) return null
  return typeof error === 'string' ? error : defaultError
}
