import { html } from './html.ts'
import { layout } from './layout.ts'

export type PageProblem = {
  status: number
  title: string
  detail: string
  requestId: string
  /** The problem's own code; some have advice of their own. */
  code: string
}

const advice: Readonly<Record<number, { text: string; label: string; href: string }>> = {
  400: { text: 'Nothing was changed. You can simply try again.', label: 'Try again', href: '/' },
  401: {
    text: 'This is only for people who are signed in.',
    label: 'Sign in',
    href: '/auth/login',
  },
  403: { text: 'Your account may not do this.', label: 'Go home', href: '/' },
  404: { text: 'It does not exist, or it is not yours.', label: 'Go home', href: '/' },
  429: { text: 'That was a little fast. Wait a moment.', label: 'Try again', href: '/' },
  503: { text: 'This will pass. Wait a moment.', label: 'Try again', href: '/auth/login' },
}
const adviceByCode: Readonly<Record<string, { text: string; label: string; href: string }>> = {
  'reauthentication-required': {
    text: 'What you asked for changes how you sign in. Confirm who you are, then do it again.',
    label: 'Confirm',
    href: '/auth/login?reauthenticate=true',
  },
}
const otherwise = { text: 'It is not your fault.', label: 'Go home', href: '/' }

/** A refusal as a person reads it, with one thing to do next. */
export function problemPage(problem: PageProblem): string {
  const { text, label, href } = adviceByCode[problem.code] ?? advice[problem.status] ?? otherwise
  return layout(
    problem.title,
    html`<section class="card narrow">
        <p class="status">${problem.status}</p>
        <h1>${problem.title}</h1>
        <p>${problem.detail === '' ? text : problem.detail}</p>
        <a class="button" href="${href}">${label}</a>
        <p class="quiet small">Request ${problem.requestId}</p>
      </section>`,
  )
}
