import type { OidcClientConfig } from '#src/config/providers/providers.ts'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { type JsonObject, parseJsonObject } from '#src/runtime/json.ts'
import { isIssuerOf } from './discovery/issuer.ts'
import type { VerifySignature } from './discovery/jwks.ts'
import { ProviderUnavailable, SignInRefused } from './errors.ts'
import { mediaTypeOf, type ProviderFetch } from './fetch.ts'
import { decodeToken, isMediaType, isNumericDate, type Token, textOf } from './token.ts'
import { expiryToleranceSeconds, type IdTokenRules, readName } from './tokens/id-token.ts'

export type UserinfoDeps = {
  rules: IdTokenRules
  keysUrl: string
  fetch: ProviderFetch
  verifySignature: VerifySignature
  clock: Clock
}

/**
 * Requests the userinfo of the id_token's subject (OpenID Connect Core 5.3). The access token is
 * sent in the header only, and redirects are not followed. A signed response is verified with the
 * provider's keys. Distributed claims (`_claim_sources`) are ignored; their URLs are never called.
 * @throws SignInRefused, for example for another `sub`; ProviderUnavailable
 */
export async function fetchUserinfo(
  deps: UserinfoDeps,
  url: string,
  access: { accessToken: string; subject: string },
): Promise<JsonObject> {
  const response = await deps.fetch(url, {
    method: 'GET',
    headers: {
      accept: 'application/json, application/jwt',
      authorization: `Bearer ${access.accessToken}`,
    },
  })
  if (response.status !== 200) throw new SignInRefused('userinfo-rejected')
  const type = mediaTypeOf(response)
  const text = await response.text()
  const token = isMediaType(type, ['jwt']) ? decodeToken(text.trim()) : null
  const claims = isMediaType(type, ['json']) ? parseJsonObject(text) : (token?.claims ?? null)
  if (claims === null) throw new SignInRefused('userinfo-malformed')
  if (token !== null) validateSigned(deps, token)
  if (claims.sub !== access.subject) throw new SignInRefused('userinfo-subject')
  if (token !== null && (await deps.verifySignature(deps.keysUrl, 'sign-in', token)) !== null) {
    throw new SignInRefused('userinfo-signature')
  }
  return claims
}

/**
 * Whether a sign-in goes on without userinfo: it has not answered, or refused to, and the id_token says everything
 * that is read. An answer that is wrong still refuses the sign-in.
 */
export function isAdditional(
  claims: JsonObject,
  error: unknown,
  {
    emailVerified,
    require,
    roleMap,
  }: Pick<OidcClientConfig, 'emailVerified' | 'require' | 'roleMap'>,
): error is ProviderUnavailable | SignInRefused {
  const isComplete =
    textOf(claims.email) !== null &&
    (claims[emailVerified.claim] ?? null) !== null &&
    readName(claims.name) !== null &&
    [...require, ...(roleMap?.rules ?? [])].every(({ claim }) => Object.hasOwn(claims, claim))
  const isUnanswered =
    error instanceof ProviderUnavailable ||
    (error instanceof SignInRefused && error.reason === 'userinfo-rejected')
  return isComplete && isUnanswered
}

/** A signed response names this client and issuer, if it names any (OpenID Connect Core 5.3.2). */
function validateSigned({ rules, clock }: UserinfoDeps, { header, claims }: Token): void {
  const { alg } = header
  const isMeantForUs =
    typeof alg === 'string' &&
    rules.idTokenAlgorithms.includes(alg) &&
    (textOf(claims.iss) === null || isIssuerOf(rules, claims)) &&
    namesClient(claims.aud, rules.clientId) &&
    (!isNumericDate(claims.exp) || claims.exp + expiryToleranceSeconds > unixSeconds(clock))
  if (!isMeantForUs) throw new SignInRefused('userinfo-malformed')
}

function namesClient(audience: unknown, clientId: string): boolean {
  if (audience === undefined || audience === null || audience === '') return true
  return [audience].flat().includes(clientId)
}

/**
 * Adds claims of userinfo that the id_token lacks, but none about the session at the provider. The
 * address and the claim that verifies it stay together: that of userinfo applies only to the address
 * of userinfo.
 * @param verifiedClaim the claim that says whether the address is verified
 */
export function completeClaims(
  claims: JsonObject,
  userinfo: JsonObject,
  verifiedClaim = 'email_verified',
): JsonObject {
  const { sid, auth_time, tid } = claims
  const ownAddress = textOf(claims.email)
  const email = ownAddress ?? userinfo.email
  const isOwn = ownAddress !== null && (claims[verifiedClaim] ?? null) !== null
  const verified = email === userinfo.email && !isOwn ? userinfo[verifiedClaim] : undefined
  return {
    ...userinfo,
    ...claims,
    ...{ sid, auth_time, tid },
    name: readName(claims.name) ?? userinfo.name,
    email,
    [verifiedClaim]: isOwn ? claims[verifiedClaim] : verified,
  }
}
