import Type from 'typebox'
import { tokenPermissions } from '#src/access/roles.ts'
import { Problem } from '#src/http/problems.ts'
import { Line } from '#src/http/schemas.ts'
import { confirmation, confirmBox } from '#src/pages/kit/components.ts'
import {
  boxes,
  choice,
  chosen,
  formOf,
  line,
  renderForm,
  submission,
  ticked,
} from '#src/pages/kit/form.ts'
import { formPage } from '#src/pages/kit/form-page.ts'
import type { ShownSecret } from '#src/pages/kit/form-submission.ts'
import { copyable, type Html, html, isolated, table, timeText } from '#src/pages/kit/html.ts'
import { noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { accountTab } from './tabs.ts'

const path = '/app/account/tokens'

/** How long a token lives, in days. */
const lifetimes = { '7': '7 days', '30': '30 days', '90': '90 days', '365': '1 year' } as const

/** The fields that every new token has. */
export const tokenFields = {
  submission,
  name: line(Line(100), 'Name', { attributes: { placeholder: 'What will use it' } }),
  days: choice(Type.Enum(['7', '30', '90', '365']), 'Expires in', { options: lifetimes }),
}

export const tokenForm = formOf({
  ...tokenFields,
  extent: choice(Type.Enum(['these', 'all']), 'It may do', {
    options: {
      these: 'only what is ticked below',
      all: 'all that you may do, now and later',
    },
  }),
  permissions: boxes(Type.Optional(ticked(tokenPermissions)), 'Permissions'),
})
type TokenForm = Type.Static<typeof tokenForm.schema>

/**
 * The permissions that the form of a token grants; null for all.
 * @throws Problem `malformed` if the choice and the boxes say different things
 */
export function grantedBy({ extent, permissions }: Pick<TokenForm, 'extent' | 'permissions'>) {
  const these = chosen(permissions)
  if ((extent === 'all') !== (these.length === 0)) {
    const detail =
      extent === 'all'
        ? 'You chose all. Untick these, or choose only what is ticked'
        : 'Tick at least one, or choose all that you may do'
    throw new Problem('malformed', { fields: [{ in: 'body', pointer: '/permissions', detail }] })
  }
  return extent === 'all' ? null : these
}
export type TokensView = {
  viewer: Viewer
  tokens: readonly ShownToken[]
  /** A token that was just created, with its name as the note. */
  newToken: ShownSecret | 'gone' | null
  /** Key of the notice to show, from `?done=`. */
  done: string | undefined
}

const notices = { 'token-ended': 'Token revoked. Its next request will be refused.' } as const
export type TokenNotice = keyof typeof notices

/** The API tokens of the viewer. */
export function tokensPage(view: TokensView): Page {
  const { viewer, newToken } = view
  return accountTab(
    viewer,
    '/tokens',
    html`${noticeText(notices, view.done)}
      ${newToken === null ? '' : newTokenSection('API token', newToken, 'revoke it and create another')}
      ${tokenSection(view)}`,
  )
}

/**
 * The form that creates an API token.
 * @param grantable permissions that the viewer can give it
 */
export function newTokenPage(viewer: Viewer, grantable: readonly string[]): Page {
  const place = { viewer, action: `${path}/new`, offered: { permissions: [grantable] } }
  return formPage({
    viewer,
    list: { href: path, label: 'API tokens' },
    current: '/app/account',
    heading: 'New API token',
    lead: 'It acts for you in the current tenant, with your role there.',
    content: renderForm(
      tokenForm,
      { ...place, values: { days: '90', extent: 'these' } },
      ({ name, days, extent, permissions }) => html`<div class="pair">${name}${days}</div>
          ${extent}
          ${permissions}
          <button class="button">Create token</button>`,
    ),
  })
}

/**
 * A secret that was just created.
 * @param kind what kind of token it is
 * @param remedy what to do for a secret that was not copied
 */
export function newTokenSection(kind: string, shown: ShownSecret | 'gone', remedy: string): Html {
  if (shown === 'gone') {
    return html`<p class="notice">This token was shown already. If you did not copy it, ${remedy}.</p>`
  }
  const { secret, note } = shown
  return html`<section class="card notice" aria-labelledby="new-token">
        <h2 id="new-token">${kind} “${isolated(note ?? '')}”</h2>
        <p>Copy it now. Only a hash is stored, so it cannot be shown again.</p>
        ${copyable('new-token-text', kind, 'secret', secret)}
      </section>`
}

export type ShownToken = {
  id: string
  name: string
  hint: string
  permissions: readonly string[] | null
  createdAt: string
  expiresAt: string
  lastUsedAt: string | null
}

const tokenColumns = [
  { label: 'Name', kind: 'wrap' },
  { label: 'Permissions', kind: 'wrap' },
  { label: 'Last used' },
  { label: 'Expires' },
  { label: 'Revoke', kind: 'actions' },
] as const

function tokenSection({ tokens }: TokensView): Html {
  return html`<section class="card" aria-labelledby="tokens">
        <div class="headed"><h2 id="tokens">API tokens</h2><a class="button" href="${path}/new">Create a token</a></div>
        ${tokens.length === 0 ? html`<p class="quiet">No API tokens yet. Programs send one as <code>Authorization: Bearer …</code>.</p>` : table(tokenColumns, tokens.map(tokenRow))}
      </section>`
}

/** A token in a list: its name, and the ends of its secret. */
export function tokenName(name: string, hint: string): Html {
  return html`${isolated(name)}<br><code class="quiet">${hint}</code>`
}

function tokenRow({ id, name, hint, permissions, expiresAt, lastUsedAt }: ShownToken): Html[] {
  return [
    tokenName(name, hint),
    html`${permissions === null ? 'All of yours' : permissions.join(', ') || 'None'}`,
    timeText(lastUsedAt),
    timeText(expiresAt),
    confirmation({
      label: 'Revoke',
      name: `Revoke the token ${name}`,
      action: `${path}/end`,
      fields: html`<input type="hidden" name="id" value="${id}">
                ${confirmBox('Revoke this token. Programs that use it stop working.')}`,
      button: 'Revoke',
    }),
  ]
}
