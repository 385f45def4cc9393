import { ProviderUnavailable, SignInRefused } from '#src/auth/oidc/errors.ts'
import { Problem } from '#src/http/problems.ts'
import type { IdentityRefusal } from './account-linking.ts'
import type { Purpose } from './state.ts'

type PurposeKind = Purpose['kind']

const responseDetail =
  'The identity provider’s response was not accepted, so nothing was changed. Start again.'

/** Error codes of the standard (RFC 6749, 4.1.2.1), of Apple and LinkedIn, and of LinkedIn alone. */
const cancellations: readonly unknown[] = [
  'access_denied',
  'user_cancelled_authorize',
  'user_cancelled_login',
]

/** Texts for the user. They name no provider and no other user's account. */
const details: Readonly<Record<IdentityRefusal, string>> = {
  'email-known':
    'An account with this e-mail address already exists. Sign in to it as usual, then link this identity on your account page.',
  'session-changed':
    'Your session has ended or changed, so nothing was linked. Sign in and start again.',
  'identity-of-another':
    'This identity is linked to another account, so it cannot be linked to yours.',
  'another-identity': 'This identity is not linked to your account. Confirm with one that is.',
  'not-authenticated-anew':
    'The identity provider did not authenticate you again, so your identity is not confirmed. Sign out and sign in again.',
  'issuer-changed':
    'This identity comes from another issuer than before, so nothing was changed: another tenant of the provider, or another provider with its name.',
  'sign-up-closed':
    'New accounts are not created here. Ask the administrator of this service for access.',
  'not-invited':
    'Only invited people can create an account. Ask for an invitation to this e-mail address, and open its link before you sign in.',
  'concurrent-change':
    'The account was changed at the same time, so nothing was changed. Start again.',
}

/** The problem response for a refused identity. */
export function toIdentityProblem(
  reason: IdentityRefusal,
  purpose: PurposeKind,
  returnTo: string | null,
): Problem {
  const signIn = { purpose, reason, returnTo }
  return new Problem('sign-in-refused', { detail: details[reason], signIn })
}

/**
 * The problem response for a refused sign-in or an unavailable provider; other errors unchanged.
 */
export function toProviderProblem(
  error: unknown,
  purpose: PurposeKind,
  returnTo: string | null,
): unknown {
  if (error instanceof SignInRefused) {
    const isCancelled = cancellations.includes(error.providerError)
    const reason = isCancelled ? 'access-denied' : error.reason
    const signIn = { purpose, reason, returnTo }
    return new Problem('sign-in-refused', { detail: responseDetail, signIn })
  }
  if (!(error instanceof ProviderUnavailable)) return error
  const { retryAfterSeconds, reason } = error
  return new Problem('unavailable', {
    detail: 'The identity provider cannot be reached. Try again in a moment.',
    retryAfterSeconds,
    signIn: { purpose, reason, returnTo },
  })
}
