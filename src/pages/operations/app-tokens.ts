import { appPermissions } from '#src/access/policy.ts'
import { notRecordedYet } from '#src/auth/operators/operators.ts'
import { html } from '#src/pages/kit/html.ts'
import { type ProgramTokenKind, programTokenForm } from '#src/pages/tokens/program-tokens.ts'

/** Above the app tokens for an operator whom the database does not know yet. */
export const notRecorded = html`<p class="notice fault" role="alert">${notRecordedYet} Until then this page shows no tokens and creates none.</p>`

/** The app tokens, for operators. */
export const appTokenKind = {
  path: '/app/app-tokens',
  name: 'App token',
  lead: 'For your own backend. A token belongs to no tenant: each request names the tenant that it is about. Only operators see this page.',
  empty: html`No app tokens yet. Your backend sends one as <code>Authorization: Bearer gtha_…</code>.`,
  form: programTokenForm(appPermissions),
  offered: [appPermissions],
  unknownCreator: 'Command line, or erased user',
  questions: {
    rotate: 'Create a new secret. A backend with the present one stops working.',
    revoke: 'Revoke this token. A backend that uses it stops working.',
  },
} as const satisfies ProgramTokenKind
