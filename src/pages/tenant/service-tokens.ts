import { servicePermissions } from '#src/access/policy.ts'
import { badge, confirmation, confirmBox, pageHead } from '#src/pages/kit/components.ts'
import { type ShownSecret, submissionField } from '#src/pages/kit/form-submission.ts'
import { copyable, type Html, html, isolated, table, timeText } from '#src/pages/kit/html.ts'
import { faultText, layout, noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'

export type ShownServiceToken = {
  id: string
  name: string
  permissions: readonly string[]
  createdBy: number | null
  expiresAt: string
  lastUsedAt: string | null
}

/** What was typed into the form, and what is wrong with each field. */
export type ServiceTokenDraft = {
  name: string
  days: string
  permissions: readonly string[]
  faults: { name?: string; permissions?: string }
}

export const emptyDraft: ServiceTokenDraft = { name: '', days: '90', permissions: [], faults: {} }

/** Choices for the lifetime of a new token. */
export const lifetimes = {
  '7': '7 days',
  '30': '30 days',
  '90': '90 days',
  '365': '1 year',
} as const

export type ServiceTokensView = {
  viewer: Viewer
  tokens: readonly ShownServiceToken[]
  /** Name of a user who created a token; null for one who is no member any more. */
  nameOf: (userId: number) => string | null
  /** For marking tokens that have expired. */
  now: Date
  draft: ServiceTokenDraft
  /** A secret that was just created, with the name of its token as the note. */
  newToken: ShownSecret | 'gone' | null
  done: string | undefined
  /** Why nothing was done, if no field is the cause. */
  fault: string | null
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
      ${faultText(view.fault)}
      ${view.newToken === null ? '' : newTokenSection(view.newToken)}
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
        ${tokenForm(view.draft)}
      </section>`,
    { current: path, ...view.viewer },
  )
}

function newTokenSection(shown: ShownSecret | 'gone'): Html {
  if (shown === 'gone') {
    return html`<p class="notice">This token was shown already. If you did not copy it, rotate its secret.</p>`
  }
  const { secret, note } = shown
  return html`<section class="card notice" aria-labelledby="new-token">
        <h2 id="new-token">Service token “${isolated(note ?? '')}”</h2>
        <p>Copy it now. Only a hash is stored, so it cannot be shown again.</p>
        ${copyable('new-token-text', 'Service token', 'secret', secret)}
      </section>`
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

function tokenForm({ name, days, permissions, faults }: ServiceTokenDraft): Html {
  const box = (permission: string) => {
    const checked = permissions.includes(permission) ? html` checked` : ''
    return html`<label class="box"><input type="checkbox" name="permissions" value="${permission}"${checked}> ${permission}</label>`
  }
  // A line for each resource.
  const byResource = Object.groupBy(servicePermissions, (one) => one.split(':', 1)[0] ?? one)
  const lines = Object.values(byResource).map(
    (those = []) => html`<div class="boxes">${those.map(box)}</div>`,
  )
  const choices = Object.entries(lifetimes).map(
    ([value, label]) =>
      html`<option value="${value}"${value === days ? html` selected` : ''}>${label}</option>`,
  )
  return html`<form class="form" method="post" action="${path}">
          ${submissionField()}
          <div class="pair">
            <label>Name <input name="name" required maxlength="100" autocomplete="off" placeholder="What will use it" value="${name}"${invalid('name', faults.name)}></label>
            <label>Expires in <select name="days">${choices}</select></label>
          </div>
          ${fieldFault('name', faults.name)}
          <fieldset${invalid('permissions', faults.permissions)}><legend>Permissions (it may do nothing else)</legend>${lines}</fieldset>
          ${fieldFault('permissions', faults.permissions)}
          <button class="button">Create token</button>
          <p class="quiet small">To create or rotate a token you must have signed in within the last five minutes. <a href="/auth/login?reauthenticate=true">Confirm your identity</a> first.</p>
        </form>`
}

function invalid(field: string, fault: string | undefined): Html {
  return fault === undefined ? html`` : html` aria-invalid="true" aria-describedby="${field}-fault"`
}

function fieldFault(field: string, fault: string | undefined): Html {
  return fault === undefined ? html`` : html`<p class="fault" id="${field}-fault">${fault}</p>`
}
