import type { RefusalReason, UnavailableReason } from '#src/auth/oidc/errors.ts'
import type { IdentityRefusal } from '#src/auth/sign-in/account-linking.ts'
import type { SignInFailure } from '#src/http/problems.ts'

type Next = { label: string; href: string }
type Words = { text: string; next?: Next }
type Reason = RefusalReason | UnavailableReason | IdentityRefusal | 'access-denied'

const unchecked = 'The provider’s answer did not pass our checks, so nothing was changed.'
const forAnother = 'The provider’s answer was not meant for this sign-in, so nothing was changed.'
const tooOld = 'The provider’s answer was too old or its clock is wrong, so nothing was changed.'
const misconfigured = 'We and the provider are not set up to fit each other. It is not your fault.'
const silent = 'The provider does not answer right now. Whoever is signed in stays signed in.'
const unusable = 'The provider cannot be used right now. Whoever is signed in stays signed in.'

/** Every reason a visit to a provider can come to nothing, in words for whoever was on it. */
export const signInWords: Readonly<Record<Reason, Words>> = {
  'access-denied': { text: 'You stopped at the provider, or it did not let you through.' },
  'provider-error': { text: 'The provider did not let you through.' },
  'exchange-rejected': { text: 'It took too long, or this answer was used before.' },
  'client-rejected': { text: misconfigured },
  'iss-missing': { text: unchecked },
  'iss-mismatch': { text: forAnother },
  'code-missing': { text: unchecked },
  'code-doubled': { text: unchecked },
  'response-malformed': { text: unchecked },
  'token-response-malformed': { text: unchecked },
  'id-token-missing': { text: unchecked },
  'id-token-malformed': { text: unchecked },
  'id-token-algorithm': { text: misconfigured },
  'id-token-type': { text: unchecked },
  'id-token-key': { text: unchecked },
  'id-token-signature': { text: unchecked },
  'id-token-issuer': { text: forAnother },
  'id-token-audience': { text: forAnother },
  'id-token-azp': { text: forAnother },
  'id-token-expired': { text: tooOld },
  'id-token-not-yet-valid': { text: tooOld },
  'id-token-issued-at': { text: tooOld },
  'id-token-lifetime': { text: unchecked },
  'id-token-nonce': { text: forAnother },
  'id-token-subject': { text: unchecked },
  'id-token-at-hash': { text: unchecked },
  'userinfo-rejected': { text: 'The provider did not tell us who you are.' },
  'userinfo-malformed': { text: unchecked },
  'userinfo-subject': { text: forAnother },
  'userinfo-signature': { text: unchecked },
  network: { text: silent },
  timeout: { text: silent },
  'server-error': { text: silent },
  'too-large': { text: unusable },
  'metadata-malformed': { text: unusable },
  'metadata-issuer-mismatch': { text: unusable },
  'metadata-endpoint-missing': { text: unusable },
  'metadata-endpoint-insecure': { text: unusable },
  'metadata-endpoint-foreign': { text: unusable },
  'keys-malformed': { text: unusable },
  'email-known': {
    text: 'An account with this e-mail address exists already. Sign in the way you usually do, then add this way from your account.',
    next: { label: 'Sign in another way', href: '/auth/login' },
  },
  'session-changed': {
    text: 'Your session has ended or changed meanwhile, so nothing was done.',
    next: { label: 'Sign in', href: '/auth/login' },
  },
  'identity-of-another': {
    text: 'It signs in to another account already, so it cannot be added to yours.',
  },
  'another-identity': { text: 'That was not one of your own ways to sign in.' },
  'not-authenticated-anew': {
    text: 'The provider did not ask who you are again, so this proves nothing. Sign out there, then confirm again.',
  },
}

const purposes: Readonly<Record<SignInFailure['purpose'], { title: string; next: Next }>> = {
  'sign-in': {
    title: 'You are not signed in',
    next: { label: 'Try again', href: '/auth/login' },
  },
  link: {
    title: 'Nothing was added to your account',
    next: { label: 'Back to your account', href: '/app/account' },
  },
  reauthenticate: {
    title: 'We could not confirm that it is you',
    next: { label: 'Confirm again', href: '/auth/login?reauthenticate=true' },
  },
}

/** What whoever came back from a provider with nothing is told, and the one thing to do next. */
export function signInAdvice({ purpose, reason }: SignInFailure) {
  const { title, next } = purposes[purpose]
  const words = Object.entries(signInWords).find(([known]) => known === reason)?.[1]
  return { title, text: words?.text ?? unchecked, ...(words?.next ?? next) }
}
