import * as oauth from 'oauth4webapi'
import type { ClientCredentials } from '#src/config/providers.ts'
import type { AssertionKey } from '#src/crypto/jwk.ts'
import { isJsonObject } from '#src/runtime/json.ts'

/** The wire options of every call, the same object for all of one provider's calls. */
export type WireOptions = oauth.HttpRequestOptions<'POST', URLSearchParams> &
  oauth.HttpRequestOptions<'GET'>

/** What a request came back with; `error` is the code of an OAuth error response, else null. */
type ClientAnswer = { response: Response; error: string | null }

export type SendAsClient = (
  send: (authentication: oauth.ClientAuth) => Promise<Response>,
) => Promise<ClientAnswer>

/**
 * Sends requests as the client. When the provider answers that the client is not who it says
 * (`invalid_client`), each further secret is tried once: client authentication comes before the
 * code or token is looked at (RFC 6749, 3.2.1 and 5.2), so that is still good. Any other refusal is
 * final. The secret that worked is the first one tried next time.
 */
export function createClientSender(
  client: ClientCredentials,
  secretSwitched: (position: number) => void,
): SendAsClient {
  const [first, ...others] = authentications(client)
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
): readonly [oauth.ClientAuth, ...oauth.ClientAuth[]] {
  const [first, ...rest] =
    client.clientAuth === 'private_key_jwt'
      ? [assertion(client.clientKey)]
      : client.clientSecrets.map(
          client.clientAuth === 'client_secret_basic'
            ? oauth.ClientSecretBasic
            : oauth.ClientSecretPost,
        )
  if (first === undefined) throw new Error('a client without credentials')
  return [first, ...rest]
}

/** RFC 7523: a fresh assertion for each request, its audience the issuer alone. */
function assertion(clientKey: AssertionKey | null): oauth.ClientAuth {
  if (clientKey === null) throw new Error('private_key_jwt without a private key')
  const { key, kid, alg } = clientKey
  return oauth.PrivateKeyJwt(
    { key, kid },
    {
      // The library calls the curve's algorithm Ed25519, where most providers know it as EdDSA.
      [oauth.modifyAssertion]: (header) => {
        header.alg = alg
      },
    },
  )
}

/**
 * The `error` of an OAuth error response (RFC 6749, 5.2), or null for any other answer. Read from
 * the body: beside a WWW-Authenticate header, which 401 demands, the library does not look at it.
 */
async function errorOf(response: Response): Promise<string | null> {
  if (response.status !== 400 && response.status !== 401) return null
  const unnamed = response.status === 401 ? 'invalid_client' : null
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null)
  const error = isJsonObject(body) ? body.error : null
  return typeof error === 'string' ? error : unnamed
}
