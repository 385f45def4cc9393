import type { ErrorCode, SignInFailure } from '#src/http/problems.ts'
import { html } from './html.ts'
import { layout } from './layout.ts'
import { entryAbove } from './navigation.ts'
import { signInAdvice } from './sign-in-refusals.ts'

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
export const adviceByCode: Readonly<Record<ErrorCode, Advice>> = {
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
