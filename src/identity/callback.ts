import * as oauth from 'oauth4webapi'
import { SignInRefused } from '#src/auth/oidc/errors.ts'

/**
 * Judges the parameters of an authorization response: `iss` (RFC 9207), `error`, `code`, then what
 * the library adds: the expected state, nothing doubled, no other flow. The caller has already
 * looked `state` up in constant time.
 * @returns the parameters as oauth4webapi wants them for the exchange
 * @throws SignInRefused
 */
export function judgeCallback(
  metadata: oauth.AuthorizationServer,
  clientId: string,
  parameters: URLSearchParams,
  state: string,
): URLSearchParams {
  judgeIssuer(metadata, parameters.getAll('iss'))
  const errors = parameters.getAll('error')
  if (errors.length > 0) throw new SignInRefused('provider-error', errors.length === 1 && errors[0])
  judgeCode(parameters.getAll('code'))
  try {
    return oauth.validateAuthResponse(metadata, { client_id: clientId }, parameters, state)
  } catch {
    throw new SignInRefused('response-malformed')
  }
}

function judgeIssuer(metadata: oauth.AuthorizationServer, issuers: readonly string[]): void {
  if (issuers.length === 0) {
    if (metadata.authorization_response_iss_parameter_supported !== true) return
    throw new SignInRefused('iss-missing')
  }
  // An empty `iss` counts as present here; the library takes it for an absent one.
  if (issuers.length !== 1 || issuers[0] !== metadata.issuer) {
    throw new SignInRefused('iss-mismatch')
  }
}

function judgeCode(codes: readonly string[]): void {
  if (codes.length > 1) throw new SignInRefused('code-doubled')
  if (codes.length === 0 || codes[0] === '') throw new SignInRefused('code-missing')
}
