import type { RefusalReason, UnavailableReason } from '#src/auth/oidc/errors.ts'
import type { IdentityRefusal } from '#src/auth/sign-in/account-linking.ts'
import type { ErrorCode, SignInFailure } from '#src/http/problems.ts'
import { html } from './html.ts'
import { entryAbove, layout } from './layout.ts'

export type PageProblem = {
  status: number
  title: string
  /** What is known of this case; empty where there is nothing to add. */
  detail: string
  requestId: string
  code: ErrorCode
  /** Of the request, with its query. */
  path: string
  /** How long to wait before trying again; null where waiting changes nothing. */
  waitSeconds: number | null
  /** Why a visit to a provider came to nothing; null where it is about something else. */
  signIn: SignInFailure | null
}

/** What a person is told, and the one thing to do next. */
export type Advice = { title?: string; text: string; label: string; href: string }

const home = { label: 'Go home', href: '/' }
const signIn = { label: 'Sign in', href: '/auth/login' }
const account = { label: 'Go to your account', href: '/app/account' }

/** No code is without. */
const adviceByCode: Readonly<Record<ErrorCode, Advice>> = {
  malformed: { text: 'Something in it was missing or not as expected. Nothing changed.', ...home },
  unauthenticated: { text: 'This is only for people who are signed in.', ...signIn },
  'invalid-token': { text: 'It has ended, or it never was one of ours.', ...account },
  forbidden: { text: 'Your role does not allow this.', label: 'See who may', href: '/app/access' },
  'session-required': { text: 'Only a person who is signed in may do this.', ...signIn },
  'reauthentication-required': {
    text: 'What you asked for changes how you sign in. Confirm who you are, then do it again within five minutes.',
    label: 'Confirm',
    href: '/auth/login?reauthenticate=true',
  },
  'cross-origin': {
    text: 'This came from another site, so nothing was done. Do it from our own pages.',
    ...home,
  },
  'prefetch-refused': {
    text: 'Your browser tried to load this page before you asked for it.',
    ...signIn,
  },
  'sign-in-refused': { text: 'Nothing was changed. Start again.', ...signIn },
  'logout-refused': { text: 'Nobody was signed out.', ...home },
  'not-found': { text: 'It does not exist, or it is not yours.', ...home },
  'last-sign-in-method': {
    text: 'Add another way to sign in first; then this one can be removed.',
    ...account,
  },
  'last-admin': { text: 'Make somebody else an admin first.', ...home },
  'method-not-allowed': { text: 'This address cannot be used like that.', ...home },
  conflict: { text: 'Something has changed meanwhile. Look again.', ...home },
  'too-large': { text: 'It is more than we take at once. Send less.', ...home },
  'unsupported-media-type': { text: 'We cannot read what was sent.', ...home },
  'too-many-requests': { text: 'You were faster than we let anybody be.', ...home },
  internal: { text: 'This is our fault, and it has been noted. Nothing is asked of you.', ...home },
  unavailable: { text: 'This will pass by itself.', ...home },
}

/** A refusal as a person reads it, with one thing to do next. */
export function problemPage(problem: PageProblem): string {
  const { status, detail, requestId, waitSeconds } = problem
  const { title = problem.title, text, label, href } = adviceFor(problem)
  const said = detail === '' || detailsForPrograms(problem) ? text : detail
  return layout(
    title,
    html`<section class="card narrow">
        <p class="status">${status}</p>
        <h1>${title}</h1>
        <p>${said}${waitSeconds === null ? '' : ` ${waitText(waitSeconds)}`}</p>
        <a class="button" href="${href}">${label}</a>
        <p class="quiet small">If it goes on, tell those who run this service: request ${requestId}</p>
      </section>`,
  )
}

/** Their details say which address to ask for; a person is given the button. */
function detailsForPrograms({ code, signIn }: PageProblem): boolean {
  return signIn !== null || code === 'reauthentication-required'
}

/** Whoever was on a page of ours goes back to it, unless the page itself is what they cannot have. */
function adviceFor({ code, path, signIn, waitSeconds }: PageProblem): Advice {
  if (signIn !== null) return signInAdvice(signIn)
  const advice = adviceByCode[code]
  if (advice.href !== '/') return advice
  const [pathname = '/'] = path.split('?')
  const above = entryAbove(pathname)
  if (above !== null) return { ...advice, label: `Back to ${above.label}`, href: above.href }
  return waitSeconds === null ? advice : { ...advice, label: 'Try again', href: '/' }
}

function waitText(seconds: number): string {
  if (seconds <= 1) return 'Wait a moment, then try again.'
  if (seconds <= 90) return `Wait ${seconds} seconds, then try again.`
  return `Wait ${Math.ceil(seconds / 60)} minutes, then try again.`
}

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
function signInAdvice({ purpose, reason }: SignInFailure) {
  const { title, next } = purposes[purpose]
  const words = Object.entries(signInWords).find(([known]) => known === reason)?.[1]
  return { title, text: words?.text ?? unchecked, ...(words?.next ?? next) }
}
