import { ProviderUnavailable, SignInRefused } from '#src/auth/oidc/errors.ts'
import { Problem } from '#src/http/problems.ts'
import type { IdentityRefusal } from './account-linking.ts'
import type { Purpose } from './state.ts'

type PurposeKind = Purpose['kind']

const answerDetail =
  'The identity provider’s answer could not be accepted, so nothing was changed. Start again.'

/** What a person is told; it names no provider and no account that is not theirs. */
const details: Readonly<Record<IdentityRefusal, string>> = {
  'email-known':
    'An account with this e-mail address exists already. Sign in the way you usually do, then link this one from your account.',
  'session-changed':
    'Your session has ended or changed meanwhile, so nothing was linked. Sign in and start again.',
  'identity-of-another':
    'This sign-in belongs to another account, so it cannot be linked to yours.',
  'another-identity': 'That was another account than yours. Confirm with your own.',
  'not-authenticated-anew':
    'The identity provider did not ask who you are again, so this does not confirm that it is you. Sign out and in again.',
}

/** A decision against an identity, as the person is told. */
export function toLinkProblem(reason: IdentityRefusal, purpose: PurposeKind): Problem {
  return new Problem('sign-in-refused', { detail: details[reason], signIn: { purpose, reason } })
}

/** A failure of the provider or of its answer, as the person is told; any other error as it is. */
export function toProviderProblem(error: unknown, purpose: PurposeKind): unknown {
  if (error instanceof SignInRefused) {
    const reason = error.providerError === 'access_denied' ? 'access-denied' : error.reason
    return new Problem('sign-in-refused', { detail: answerDetail, signIn: { purpose, reason } })
  }
  if (!(error instanceof ProviderUnavailable)) return error
  const { retryAfterSeconds, reason } = error
  return new Problem('unavailable', {
    detail: 'The identity provider cannot be reached. Try again in a moment.',
    retryAfterSeconds,
    signIn: { purpose, reason },
  })
}
