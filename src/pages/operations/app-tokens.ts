import { appPermissions } from '#src/access/policy.ts'
import type { AppToken } from '#src/auth/app-tokens/app-tokens.ts'
import { notRecordedYet } from '#src/auth/operators/operators.ts'
import { newTokenSection, tokenFields } from '#src/pages/account/account.ts'
import { badge, confirmation, confirmBox, pageHead } from '#src/pages/kit/components.ts'
import { boxes, formOf, renderForm, ticked } from '#src/pages/kit/form.ts'
import { type ShownSecret, submissionField } from '#src/pages/kit/form-submission.ts'
import { type Html, html, isolated, table, timeText } from '#src/pages/kit/html.ts'
import { layout, noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'

export const appTokenForm = formOf({
  ...tokenFields,
  permissions: boxes(ticked(appPermissions), 'Permissions (it may do nothing else)', {
    rule: 'Select at least one permission.',
  }),
})

export type AppTokensView = {
  viewer: Viewer
  tokens: readonly AppToken[]
  /** Whether the database knows the viewer as an operator; otherwise it shows no token and refuses a new one. */
  isRecorded: boolean
  /** For marking tokens that have expired. */
  now: Date
  /** A secret that was just created, with the name of its token as the note. */
  newToken: ShownSecret | 'gone' | null
  done: string | undefined
}

const notices = { removed: 'Token revoked. Its next request will be refused.' } as const
export type AppTokenNotice = keyof typeof notices

const path = '/app/app-tokens'

/** The app tokens, with forms to create, rotate and revoke one, for operators. */
export function appTokensPage(view: AppTokensView): Page {
  const { viewer, tokens, isRecorded, now, newToken, done } = view
  return layout(
    'App tokens',
    html`${pageHead({
      title: 'App tokens',
      lead: 'For the backend that this program stands in front of. A token belongs to no tenant and names one in each call. Only operators see this page.',
      actions: html`<a class="button" href="#create">Create a token</a>`,
    })}
      ${noticeText(notices, done)}
      ${isRecorded ? '' : html`<p class="notice fault" role="alert">${notRecordedYet} Until then this page shows no tokens and creates none.</p>`}
      ${newToken === null ? '' : newTokenSection('App token', newToken, 'rotate its secret')}
      <section class="card" aria-labelledby="tokens">
        <h2 id="tokens">Tokens</h2>
        ${
          tokens.length === 0
            ? html`<p class="quiet">No app tokens yet. Your backend sends one as <code>Authorization: Bearer gtha_…</code>.</p>`
            : html`<div class="lead">${table(
                columns,
                tokens.map((token) => tokenRow(token, now)),
              )}</div>`
        }
      </section>
      <section class="card" aria-labelledby="create">
        <h2 id="create">Create a token</h2>
        ${tokenForm(viewer)}
      </section>`,
    { current: path, ...viewer },
  )
}

const columns = [
  { label: 'Name', kind: 'wrap' },
  { label: 'Permissions', kind: 'wrap' },
  { label: 'Created by', kind: 'wrap' },
  { label: 'Expires' },
  { label: 'Last used' },
  { label: 'Rotate', kind: 'actions' },
  { label: 'Revoke', kind: 'actions' },
] as const

function tokenRow(
  { id, name, permissions, createdBy, expiresAt, lastUsedAt }: AppToken,
  now: Date,
): Html[] {
  const expired = new Date(expiresAt) <= now ? html` ${badge('Expired', 'bad')}` : ''
  return [
    isolated(name),
    html`${permissions.join(', ')}`,
    createdBy === null
      ? html`<span class="quiet">Command line, or erased user</span>`
      : html`user ${createdBy}`,
    html`${timeText(expiresAt)}${expired}`,
    timeText(lastUsedAt),
    confirmation({
      label: 'Rotate',
      name: `Rotate the secret of ${name}`,
      action: `${path}/rotate`,
      fields: html`${submissionField()}<input type="hidden" name="id" value="${id}">
                ${confirmBox('Create a new secret. A backend with the present one stops working.')}`,
      button: 'Rotate secret',
    }),
    confirmation({
      label: 'Revoke',
      name: `Revoke the token ${name}`,
      action: `${path}/remove`,
      fields: html`<input type="hidden" name="id" value="${id}">
                ${confirmBox('Revoke this token. A backend that uses it stops working.')}`,
      button: 'Revoke',
    }),
  ]
}

function tokenForm(viewer: Viewer): Html {
  return renderForm(
    appTokenForm,
    { viewer, action: path, values: { days: '90' }, offered: { permissions: [appPermissions] } },
    ({ name, days, permissions }) => html`<div class="pair">${name}${days}</div>
          ${permissions}
          <button class="button">Create token</button>
          <p class="quiet small">To create or rotate a token you must have signed in within the last five minutes. <a href="/auth/login?reauthenticate=true">Confirm your identity</a> first.</p>`,
  )
}
