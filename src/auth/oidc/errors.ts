/** Why a sign-in was refused: the stable codes of the audit log, each with its meaning. */
export const refusalReasons = {
  'iss-missing': 'The provider promises `iss` in its response and did not send it.',
  'iss-mismatch': 'The response names another issuer, none, or several.',
  'provider-error': 'The provider answered with an error, see `providerError`.',
  'code-missing': 'The response carries no code.',
  'code-doubled': 'The response carries more than one code.',
  'response-malformed': 'The response has another state, a doubled parameter or another flow.',
  'client-rejected': 'The provider accepts none of the configured client secrets.',
  'exchange-rejected': 'The provider refused the code, see `providerError`.',
  'token-response-malformed': 'The token response is not the JSON the standard describes.',
  'id-token-missing': 'The token response carries no id_token.',
  'id-token-malformed': 'The id_token is not a signed JWT with an object inside.',
  'id-token-algorithm': 'The id_token is signed with an algorithm that is not configured.',
  'id-token-type': 'The header `typ` of the id_token is neither absent nor `JWT`.',
  'id-token-key': 'No single published key fits the id_token.',
  'id-token-signature': 'The signature of the id_token is not one of the provider.',
  'id-token-issuer': 'The id_token was issued by someone else.',
  'id-token-audience': 'The id_token is not for this client alone.',
  'id-token-azp': 'The id_token was issued to another client.',
  'id-token-expired': '`exp` of the id_token is missing, past or no integer.',
  'id-token-not-yet-valid': '`nbf` of the id_token lies ahead.',
  'id-token-issued-at': '`iat` of the id_token is missing, no integer or too far from now.',
  'id-token-lifetime': 'The id_token lives for more than a day.',
  'id-token-nonce': 'The id_token belongs to another sign-in.',
  'id-token-subject': '`sub` of the id_token is not 1 to 255 printable ASCII characters.',
  'userinfo-rejected': 'The provider does not answer userinfo with status 200.',
  'userinfo-malformed': 'The userinfo answer is neither JSON nor a JWT for this client.',
  'userinfo-subject': 'The userinfo answer is about somebody else.',
  'userinfo-signature': 'The signed userinfo answer is not signed by the provider.',
  'id-token-at-hash': '`at_hash` of the id_token belongs to another access token.',
} as const

/** Why the provider could not be used: its fault, not the visitor's; trying again may help. */
export const unavailableReasons = {
  network: 'The provider cannot be reached or broke off.',
  timeout: 'The provider did not answer in time.',
  'too-large': 'The answer of the provider is larger than allowed.',
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
 * The sign-in is refused for good. Carries codes only: never a token, a body or a cause.
 * `providerError` is the `error` code of the provider, [a-z_]{1,64}, where it sent one.
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

/** The provider cannot be used now. Carries codes only, like SignInRefused. */
export class ProviderUnavailable extends Error {
  readonly reason: UnavailableReason
  readonly retryAfterSeconds: number
  /** The request never left: there was no connection to send it over. */
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

/** The codes of RFC 6749 and OpenID Connect fit; anything else may be text of a stranger. */
function safeErrorCode(value: unknown): string | null {
  return typeof value === 'string' && /^[a-z_]{1,64}$/.test(value) ? value : null
}
