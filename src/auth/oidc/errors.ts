/** Codes in the audit log for refused sign-ins, each with its meaning. */
export const refusalReasons = {
  'iss-missing': 'The provider announces `iss` in its metadata and did not send it.',
  'iss-mismatch': '`iss` of the response is not the issuer, or is there more than once.',
  'provider-error': 'The provider answered with an error, see `providerError`.',
  'code-missing': 'The response contains no code.',
  'code-doubled': 'The response contains more than one code.',
  'response-malformed': 'The response has a wrong state, a repeated parameter or another flow.',
  'client-rejected': 'The provider accepts none of the configured client credentials.',
  'exchange-rejected': 'The provider refused the code, see `providerError`.',
  'token-response-malformed':
    'The token response is not JSON as in RFC 6749, 5.1, or has characters that it does not allow.',
  'id-token-missing': 'The token response contains no id_token.',
  'id-token-malformed': 'The id_token is not a signed JWT with a JSON object as payload.',
  'id-token-algorithm': 'The id_token is signed with an algorithm that is not configured.',
  'id-token-type': 'The header `typ` of the id_token is neither absent nor `JWT`.',
  'id-token-key': 'No published key matches the id_token, or several do.',
  'id-token-signature': 'The signature of the id_token is invalid.',
  'id-token-issuer': '`iss` of the id_token is not the issuer of the provider.',
  'id-token-audience':
    '`aud` of the id_token is not this client, or names others that are not configured.',
  'id-token-azp': '`azp` of the id_token is another client.',
  'id-token-expired': '`exp` of the id_token is missing, in the past or not a number.',
  'id-token-not-yet-valid': '`nbf` of the id_token is in the future.',
  'id-token-issued-at':
    '`iat` of the id_token is missing, not a number or too far from the current time.',
  'id-token-lifetime': 'The id_token is valid for more than a day.',
  'id-token-nonce': '`nonce` of the id_token belongs to another sign-in.',
  'id-token-subject': '`sub` of the id_token is not 1 to 255 printable ASCII characters.',
  'userinfo-rejected': 'The userinfo response does not have status 200.',
  'userinfo-malformed': 'The userinfo response is neither JSON nor a JWT for this client.',
  'userinfo-subject': '`sub` of the userinfo response is not that of the id_token.',
  'userinfo-signature': 'The signature of the userinfo response is invalid.',
  'profile-rejected': 'The API of the provider did not return the profile, or an error instead.',
  'profile-malformed': 'The profile is not JSON, or has no usable id of the user.',
  'tenant-not-allowed': 'The tenant of the person is not one of `OIDC_<NAME>_TENANTS`.',
  'claim-required': 'The person lacks a claim that `OIDC_<NAME>_REQUIRE` demands.',
  'id-token-at-hash': '`at_hash` of the id_token does not match the access token.',
} as const

/** Codes in the audit log for provider outages; another try may succeed. */
export const unavailableReasons = {
  network: 'The provider cannot be reached, or the connection broke.',
  certificate: 'The certificate of the provider is not trusted.',
  timeout: 'The provider did not answer in time.',
  'too-large': 'The response of the provider is larger than allowed.',
  'server-error': 'The provider answered with status 429 or 5xx.',
  'metadata-malformed': 'The metadata of the provider cannot be read.',
  'metadata-issuer-mismatch': 'The metadata names another issuer than the configured one.',
  'metadata-endpoint-missing': 'The metadata lacks an endpoint that sign-in needs.',
  'metadata-endpoint-insecure': 'The metadata names an endpoint that is not https.',
  'metadata-endpoint-foreign': 'The metadata names an endpoint of another configured provider.',
  'keys-malformed': 'The key set of the provider cannot be read.',
} as const

export type RefusalReason = keyof typeof refusalReasons
export type UnavailableReason = keyof typeof unavailableReasons

const defaultRetrySeconds = 30

/**
 * The sign-in is refused for good. Contains codes only: no token, no body, no cause.
 * `providerError` is the `error` code that the provider sent, [a-z_]{1,64}, or null.
 */
export class SignInRefused extends Error {
  readonly reason: RefusalReason
  readonly providerError: string | null

  constructor(reason: RefusalReason, providerError: unknown = null) {
    super(refusalReasons[reason])
    this.name = 'SignInRefused'
    this.reason = reason
    this.providerError = safeErrorCode(providerError)
  }
}

/** The provider cannot be used at the moment. Contains codes only, like SignInRefused. */
export class ProviderUnavailable extends Error {
  readonly reason: UnavailableReason
  readonly retryAfterSeconds: number
  /** True if the connection failed, so that no part of the request was sent. */
  readonly unsent: boolean

  constructor(
    reason: UnavailableReason,
    retryAfterSeconds: number = defaultRetrySeconds,
    unsent = false,
  ) {
    super(unavailableReasons[reason])
    this.name = 'ProviderUnavailable'
    this.reason = reason
    this.retryAfterSeconds = retryAfterSeconds
    this.unsent = unsent
  }
}

/** Accepts the codes of RFC 6749 and OpenID Connect, not arbitrary text from the request. */
function safeErrorCode(value: unknown): string | null {
  return typeof value === 'string' && /^[a-z_]{1,64}$/.test(value) ? value : null
}
