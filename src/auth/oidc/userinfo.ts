import * as oauth from 'oauth4webapi'
import type { WireOptions } from './client-auth.ts'
import type { ProviderMetadata } from './discovery.ts'
import { ProviderUnavailable, SignInRefused } from './errors.ts'
import { mediaTypeOf } from './fetch.ts'
import type { IdTokenClaims } from './id-token.ts'
import type { VerifySignature } from './jwks.ts'

/**
 * Asks userinfo about the person the id_token is about (OpenID Connect Core 5.3). The access token
 * goes in the header only, and with no redirect anywhere else. A signed answer is verified with the
 * provider's keys. Claims by reference (`_claim_sources`) are ignored: their addresses are never
 * called.
 * @throws SignInRefused, above all when `sub` is another one; ProviderUnavailable
 */
export async function fetchUserinfo(
  metadata: ProviderMetadata,
  client: oauth.Client,
  access: { accessToken: string; subject: string },
  wire: WireOptions,
  verifySignature: VerifySignature,
): Promise<IdTokenClaims> {
  if (metadata.userinfo_endpoint === undefined) {
    throw new ProviderUnavailable('metadata-endpoint-missing')
  }
  const response = await oauth.userInfoRequest(metadata, client, access.accessToken, wire)
  if (response.status !== 200) throw new SignInRefused('userinfo-rejected')
  const type = mediaTypeOf(response)
  if (type !== 'application/json' && type !== 'application/jwt') {
    throw new SignInRefused('userinfo-malformed')
  }
  const claims = await judge(metadata, client, access.subject, response)
  if (type === 'application/jwt') await verify(metadata, response, verifySignature)
  return claims
}

async function judge(
  metadata: ProviderMetadata,
  client: oauth.Client,
  subject: string,
  response: Response,
): Promise<IdTokenClaims> {
  try {
    return await oauth.processUserInfoResponse(metadata, client, subject, response)
  } catch (error) {
    const isSubject =
      error instanceof oauth.OperationProcessingError && error.message.includes('"sub"')
    throw new SignInRefused(isSubject ? 'userinfo-subject' : 'userinfo-malformed')
  }
}

async function verify(
  metadata: ProviderMetadata,
  response: Response,
  verifySignature: VerifySignature,
): Promise<void> {
  try {
    await verifySignature(metadata, response)
  } catch (error) {
    if (error instanceof ProviderUnavailable) throw error
    throw new SignInRefused('userinfo-signature')
  }
}

/**
 * The claims of the id_token, with what they lack from userinfo. An address and its being verified
 * stay together: the one's word is never put on the other's address.
 */
export function completeClaims(claims: IdTokenClaims, userinfo: IdTokenClaims): IdTokenClaims {
  const name = claims.name ?? userinfo.name
  if (claims.email === undefined) {
    const { email, email_verified } = userinfo
    return { ...claims, name, email, email_verified }
  }
  const isSame = claims.email === userinfo.email && claims.email_verified === undefined
  return isSame ? { ...claims, name, email_verified: userinfo.email_verified } : { ...claims, name }
}
