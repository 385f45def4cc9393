import * as oauth from 'oauth4webapi'
import type { HttpOptions } from './client-auth.ts'
import type { ProviderMetadata } from './discovery.ts'
import { ProviderUnavailable, SignInRefused } from './errors.ts'
import { mediaTypeOf } from './fetch.ts'
import type { IdTokenClaims } from './id-token.ts'
import type { VerifySignature } from './jwks.ts'
import { presentMembers, withPresentClaims } from './members.ts'

/**
 * Requests the userinfo of the id_token's subject (OpenID Connect Core 5.3). The access token is
 * sent in the header only, and redirects are not followed. A signed response is verified with the
 * provider's keys. Distributed claims (`_claim_sources`) are ignored; their URLs are never called.
 * @throws SignInRefused, for example for another `sub`; ProviderUnavailable
 */
export async function fetchUserinfo(
  metadata: ProviderMetadata,
  client: oauth.Client,
  access: { accessToken: string; subject: string },
  http: HttpOptions,
  verifySignature: VerifySignature,
): Promise<IdTokenClaims> {
  if (metadata.userinfo_endpoint === undefined) {
    throw new ProviderUnavailable('metadata-endpoint-missing')
  }
  const response = await oauth.userInfoRequest(metadata, client, access.accessToken, http)
  if (response.status !== 200) throw new SignInRefused('userinfo-rejected')
  const type = mediaTypeOf(response)
  if (type !== 'application/json' && type !== 'application/jwt') {
    throw new SignInRefused('userinfo-malformed')
  }
  const body = await response.text()
  const isSigned = type === 'application/jwt'
  const readable = new Response(isSigned ? withPresentClaims(body) : body, {
    headers: { 'content-type': type },
  })
  const claims = await readClaims(metadata, client, access.subject, readable)
  if (isSigned && (await verifySignature(metadata, body, 'sign-in')) !== null) {
    throw new SignInRefused('userinfo-signature')
  }
  return presentMembers(claims)
}

async function readClaims(
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

/**
 * Adds claims of userinfo that the id_token lacks. `email` and `email_verified` stay together:
 * `email_verified` of userinfo applies only to the address of userinfo.
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
