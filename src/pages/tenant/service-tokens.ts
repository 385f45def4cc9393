import { servicePermissions } from '#src/access/policy.ts'
import { newTokenSection, tokenFields } from '#src/pages/account/account.ts'
import { badge, confirmation, confirmBox, pageHead } from '#src/pages/kit/components.ts'
import { boxes, formOf, renderForm, ticked } from '#src/pages/kit/form.ts'
import { type ShownSecret, submissionField } from '#src/pages/kit/form-submission.ts'
import { type Html, html, isolated, table, timeText } from '#src/pages/kit/html.ts'
import { layout, noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'

export type ShownServiceToken = {
  id: string
  name: string
  permissions: readonly string[]
  createdBy: number | null
  expiresAt: string
  lastUsedAt: string | null
}

export const serviceTokenForm = formOf({
  ...tokenFields,
  permissions: boxes(ticked(servicePermissions), 'Permissions (it may do nothing else)', {
    rule: 'Select at least one permission.',
  }),
})

export type ServiceTokensView = {
  viewer: Viewer
  tokens: readonly ShownServiceToken[]
  /** Name of a user who created a token; null for one who is no member any more. */
  nameOf: (userId: number) => string | null
  /** For marking tokens that have expired. */
  now: Date
  /** A secret that was just created, with the name of its token as the note. */
  newToken: ShownSecret | 'gone' | null
  done: string | undefined
}

const notices = { removed: 'Token revoked. Its next request will be refused.' } as const
export type ServiceTokenNotice = keyof typeof notices

const path = '/app/service-tokens'

/** The service tokens of the tenant, with forms to create, rotate and revoke one. */
export function serviceTokensPage(view: ServiceTokensView): Page {
  const { tokens } = view
  return layout(
    'Service tokens',
    html`${pageHead({
      title: 'Service tokens',
      lead: 'For programs of the tenant. A token does not end when the person who created it leaves.',
      actions: html`<a class="button" href="#create">Create a token</a>`,
    })}
      ${noticeText(notices, view.done)}
      ${view.newToken === null ? '' : newTokenSection('Service token', view.newToken, 'rotate its secret')}
      <section class="card" aria-labelledby="tokens">
        <h2 id="tokens">Tokens</h2>
        ${
          tokens.length === 0
            ? html`<p class="quiet">No service tokens yet. Programs send one as <code>Authorization: Bearer gths_…</code>.</p>`
            : html`<div class="lead">${table(
                columns,
                tokens.map((token) => tokenRow(token, view)),
              )}</div>`
        }
      </section>
      <section class="card" aria-labelledby="create">
        <h2 id="create">Create a token</h2>
        ${tokenForm(view.viewer)}
      </section>`,
    { current: path, ...view.viewer },
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
  { id, name, permissions, createdBy, expiresAt, lastUsedAt }: ShownServiceToken,
  { now, nameOf }: Pick<ServiceTokensView, 'now' | 'nameOf'>,
): Html[] {
  const creator = createdBy === null ? null : nameOf(createdBy)
  const expired = new Date(expiresAt) <= now ? html` ${badge('Expired', 'bad')}` : ''
  return [
    isolated(name),
    html`${permissions.join(', ')}`,
    creator === null ? html`<span class="quiet">Former member</span>` : isolated(creator),
    html`${timeText(expiresAt)}${expired}`,
    timeText(lastUsedAt),
    confirmation({
      label: 'Rotate',
      name: `Rotate the secret of ${name}`,
      action: `${path}/rotate`,
      fields: html`${submissionField()}<input type="hidden" name="id" value="${id}">
                ${confirmBox('Create a new secret. Programs with the present one stop working.')}`,
      button: 'Rotate secret',
    }),
    confirmation({
      label: 'Revoke',
      name: `Revoke the token ${name}`,
      action: `${path}/remove`,
      fields: html`<input type="hidden" name="id" value="${id}">
                ${confirmBox('Revoke this token. Programs that use it stop working.')}`,
      button: 'Revoke',
    }),
  ]
}

function tokenForm(viewer: Viewer): Html {
  const byResource = Object.groupBy(servicePermissions, (one) => one.split(':', 1)[0] ?? one)
  const lines = Object.values(byResource).map((those = []) => those)
  return renderForm(
    serviceTokenForm,
    { viewer, action: path, values: { days: '90' }, offered: { permissions: lines } },
    ({ name, days, permissions }) => html`<div class="pair">${name}${days}</div>
          ${permissions}
          <button class="button">Create token</button>
          <p class="quiet small">To create or rotate a token you must have signed in within the last five minutes. <a href="/auth/login?reauthenticate=true">Confirm your identity</a> first.</p>`,
  )
}
