import { appPermissions } from '#src/access/policy.ts'
import { notRecordedYet } from '#src/auth/operators/operators.ts'
import { html } from '#src/pages/kit/html.ts'
import type { Page } from '#src/pages/kit/layout.ts'
import {
  type ProgramTokensView,
  programTokenForm,
  programTokensPage,
} from '#src/pages/tokens/program-tokens.ts'

export const appTokenForm = programTokenForm(appPermissions)

export type AppTokensView = ProgramTokensView & {
  /** Whether the database knows the viewer as an operator; otherwise it shows no token and refuses a new one. */
  isRecorded: boolean
}

const notRecorded = html`<p class="notice fault" role="alert">${notRecordedYet} Until then this page shows no tokens and creates none.</p>`

/** The app tokens, for operators. */
export function appTokensPage(view: AppTokensView): Page {
  return programTokensPage(view, {
    path: '/app/app-tokens',
    name: 'App token',
    lead: 'For your own backend. A token belongs to no tenant: each request names the tenant that it is about. Only operators see this page.',
    ...(!view.isRecorded && { warning: notRecorded }),
    empty: html`No app tokens yet. Your backend sends one as <code>Authorization: Bearer gtha_…</code>.`,
    form: appTokenForm,
    offered: [appPermissions],
    creatorOf: (userId) =>
      userId === null
        ? html`<span class="quiet">Command line, or erased user</span>`
        : html`user ${userId}`,
    questions: {
      rotate: 'Create a new secret. A backend with the present one stops working.',
      revoke: 'Revoke this token. A backend that uses it stops working.',
    },
  })
}
