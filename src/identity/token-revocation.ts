import * as oauth from 'oauth4webapi'
import type { SendAsClient, WireOptions } from '#src/auth/oidc/client-auth.ts'
import type { ProviderMetadata } from '#src/auth/oidc/discovery.ts'

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
