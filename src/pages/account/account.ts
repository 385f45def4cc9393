import Type from 'typebox'
import { managingRole, tokenPermissions } from '#src/access/roles.ts'
import { Problem } from '#src/http/problems.ts'
import { Line } from '#src/http/schemas.ts'
import { badge, confirmation, confirmBox, pageHead } from '#src/pages/kit/components.ts'
import {
  boxes,
  choice,
  chosen,
  folded,
  formOf,
  line,
  renderForm,
  submission,
  ticked,
} from '#src/pages/kit/form.ts'
import type { ShownSecret } from '#src/pages/kit/form-submission.ts'
import { copyable, type Html, html, isolated, table, timeText } from '#src/pages/kit/html.ts'
import { layout, noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import type { ProviderChoice } from '../sign-in/sign-in.ts'
import { auditSection, deviceName, type Trail } from './audit.ts'
import { ownInvitationSection, type ShownOwnInvitation } from './invitations.ts'
import { planSection, type ShownPlan } from './plan.ts'

export type Account = {
  viewer: Viewer
  email: string | null
  identities: readonly ShownIdentity[]
  providers: readonly ProviderChoice[]
  invitations: readonly ShownOwnInvitation[]
  memberships: readonly ShownMembership[]
  sessions: readonly ShownSession[]
  tokens: readonly ShownToken[]
  grantable: readonly string[]
  audit: Trail
  plan: ShownPlan
  /** Key of the notice to show, from `?done=`. */
  done: string | undefined
  /** A token that was just created, with its name as the note. */
  newToken: ShownSecret | 'gone' | null
}

const notices = {
  'session-ended': 'Signed out of that device.',
  'others-ended': 'Signed out of all other devices.',
  'token-ended': 'Token revoked. Its next request will be refused.',
  'identity-removed': 'Sign-in method removed.',
  joined: 'You are a member now. Switch to the tenant below.',
  declined: 'Invitation declined.',
  left: 'You have left the tenant. Your sessions and tokens in it have ended.',
} as const
export type AccountNotice = keyof typeof notices

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
export const newTenantFormFields = formOf({
  submission,
  name: line(Line(200), 'Name of the tenant', { required: true }),
})
export const deletionForm = formOf({
  confirm: line(Type.Literal('delete'), html`<span>Type <code>delete</code> to confirm</span>`, {
    rule: 'Type delete',
    required: true,
    attributes: { pattern: 'delete' },
  }),
})

/** The account page: sign-in methods, sessions, tenants, tokens and recent activity. */
export function accountPage(account: Account): Page {
  return layout(
    'Account',
    html`${pageHead({ title: 'Your account', lead: account.email === null ? 'No email address' : isolated(account.email) })}
      ${noticeText(notices, account.done)}
      ${account.newToken === null ? '' : newTokenSection('API token', account.newToken, 'revoke it and create another')}
      ${ownInvitationSection(account.invitations)}
      ${planSection(account.plan)}
      ${identitySection(account.identities, account.providers)}
      ${sessionSection(account.sessions)}
      ${tenantSection(account)}
      ${tokenSection(account)}
      ${auditSection('/app/account', account.audit)}
      ${dataSection(account.viewer)}`,
    { current: '/app/account', ...account.viewer },
  )
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

/** Download and deletion of everything that is kept about the user. */
function dataSection(viewer: Viewer): Html {
  const form = renderForm(
    deletionForm,
    { viewer, action: '/app/account/delete' },
    ({
      confirm,
    }) => html`<p>Your sign-in methods, sessions, tokens and all that you own are deleted, and every tenant of which you are the only member. What you wrote for other tenants stays, without your name. This cannot be undone.</p>
            ${confirm}
            <button class="button danger">Delete your account now</button>
            <p class="quiet small">You must have signed in within the last five minutes. <a href="/auth/login?reauthenticate=true">Confirm your identity</a> first.</p>`,
  )
  return html`<section class="card" aria-labelledby="data">
        <h2 id="data">Your data</h2>
        <p>The file contains what we store about you: profile, sign-in methods, sessions, tenants, tokens without their secrets, what you own and wrote, invoices and activity.</p>
        <a class="button plain" href="/auth/account/export" download="account.json">Download your data (JSON)</a>
      </section>
      <section class="card" aria-labelledby="deletion">
        <h2 id="deletion">Delete account</h2>
        ${folded('Delete your account', form, 'confirm')}
      </section>`
}

export type ShownMembership = { id: string; name: string; role: string; active: boolean }

const tenantColumns = [
  { label: 'Tenant', kind: 'wrap' },
  { label: 'Role' },
  { label: 'Switch', kind: 'actions' },
  { label: 'Leave', kind: 'actions' },
] as const

/** The user's tenants, with buttons to switch and to leave, which the admin of a single one cannot. */
function tenantSection({ memberships, viewer }: Account): Html {
  const isOnly = memberships.length < 2
  const rows = memberships.map(({ id, name, role, active }) => [
    isolated(name),
    role,
    active ? badge('Current') : switchButton(id, name),
    isOnly && role === managingRole ? '' : leaveForm(id, name, isOnly),
  ])
  return html`<section class="card" aria-labelledby="tenants">
        <h2 id="tenants">Your tenants</h2>
        ${table(tenantColumns, rows)}
        ${newTenantForm(viewer)}
      </section>`
}

/** A form to create a tenant. */
function newTenantForm(viewer: Viewer): Html {
  const form = renderForm(
    newTenantFormFields,
    { viewer, action: '/app/account/tenants' },
    (inputs) => html`${inputs.name}
            <button class="button">Create the tenant</button>`,
  )
  return folded('Create a tenant', form)
}

function switchButton(id: string, name: string): Html {
  return html`<form method="post" action="/session/tenant">
              <input type="hidden" name="tenantId" value="${id}">
              <button class="button plain slim" aria-label="Switch to ${name}">Switch</button>
            </form>`
}

function leaveForm(id: string, name: string, isOnly: boolean): Html {
  const consequence = isOnly
    ? 'It is your only tenant, so your account and all that you own are deleted.'
    : 'Your sessions and tokens in this tenant end. You need an invitation to return.'
  return confirmation({
    label: 'Leave',
    name: `Leave ${name}`,
    action: '/app/account/tenants/leave',
    fields: html`<input type="hidden" name="id" value="${id}">
                ${confirmBox(html`Leave ${isolated(name)}. ${consequence}`)}`,
    button: 'Leave',
  })
}

export type ShownIdentity = { provider: string; subject: string; createdAt: string }

const identityColumns = [
  { label: 'Provider' },
  { label: 'Subject', kind: 'wrap' },
  { label: 'Added' },
  { label: 'Remove', kind: 'actions' },
] as const

/** Sign-in methods. The last one has no remove button, because it cannot be removed. */
function identitySection(
  identities: readonly ShownIdentity[],
  providers: readonly ProviderChoice[],
): Html {
  const labelOf = (name: string) => providers.find((one) => one.name === name)?.label ?? name
  const removable = identities.length > 1
  const rows = identities.map(({ provider, subject, createdAt }) => [
    labelOf(provider),
    subject,
    timeText(createdAt),
    removable ? removeButton(provider, subject) : html`<span class="quiet">Your only method</span>`,
  ])
  const links = providers.map(
    ({ name, label, isDown }) => html`<form method="post" action="/auth/identities/${name}">
            <button class="button plain">Add ${label}${isDown ? ' (outage)' : ''}</button>
          </form>`,
  )
  return html`<section class="card" aria-labelledby="identities">
        <h2 id="identities">Sign-in methods</h2>
        ${table(identityColumns, rows)}
        <div class="row">${links}</div>
        <p class="quiet small">To add or remove a method you must have signed in within the last five minutes. <a href="/auth/login?reauthenticate=true">Confirm your identity</a> first.</p>
      </section>`
}

function removeButton(provider: string, subject: string): Html {
  return confirmation({
    label: 'Remove',
    name: `Remove ${provider} ${subject}`,
    action: '/app/account/identities/remove',
    fields: html`<input type="hidden" name="provider" value="${provider}">
              <input type="hidden" name="subject" value="${subject}">
              <p>You can no longer sign in with it.</p>`,
    button: 'Remove',
  })
}

export type ShownSession = {
  id: string
  current: boolean
  createdAt: string
  lastSeenAt: string
  userAgent: string | null
  ip: string | null
}

const sessionColumns = [
  { label: 'Device', kind: 'wrap' },
  { label: 'Signed in' },
  { label: 'Last active' },
  { label: 'Sign out', kind: 'actions' },
] as const

/** Active sessions, with a button to sign out each one and a button for all others. */
function sessionSection(sessions: readonly ShownSession[]): Html {
  const rows = sessions.map(({ id, current, createdAt, lastSeenAt, userAgent, ip }) => [
    html`${isolated(deviceName(userAgent))} ${current ? badge('This device') : ''}<br><span class="quiet">${ip ?? 'Unknown address'}</span>`,
    timeText(createdAt),
    timeText(lastSeenAt),
    signOutButton(id, current, deviceName(userAgent)),
  ])
  const others = sessions.some(({ current }) => !current)
  return html`<section class="card" aria-labelledby="sessions">
        <h2 id="sessions">Sessions</h2>
        ${table(sessionColumns, rows)}
        ${
          others
            ? html`<div class="row">${confirmation({
                label: 'Sign out all other devices',
                action: '/app/account/sessions/end-others',
                fields: html`<p>Those devices must sign in again. Unsaved text on them is lost.</p>`,
                button: 'Sign out all others',
              })}</div>`
            : ''
        }
      </section>`
}

function signOutButton(id: string, current: boolean, device: string): Html {
  if (current) {
    return html`<form method="post" action="/auth/logout"><button class="button plain slim" aria-label="Sign out of this device">Sign out</button></form>`
  }
  return html`<form method="post" action="/app/account/sessions/end">
              <input type="hidden" name="id" value="${id}">
              <button class="button plain slim" aria-label="Sign out of ${device}">Sign out</button>
            </form>`
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

/** The user's API tokens, and a form to create one with permissions that they can grant. */
function tokenSection({ viewer, tokens, grantable }: Account): Html {
  const place = { viewer, action: '/app/account/tokens', offered: { permissions: [grantable] } }
  const form = renderForm(
    tokenForm,
    { ...place, values: { days: '90', extent: 'these' } },
    ({ name, days, extent, permissions }) => html`<h3>Create a token</h3>
          <div class="pair">${name}${days}</div>
          ${extent}
          ${permissions}
          <button class="button">Create token</button>
          <p class="quiet small">To create a token you must have signed in within the last five minutes. <a href="/auth/login?reauthenticate=true">Confirm your identity</a> first.</p>`,
  )
  return html`<section class="card" aria-labelledby="tokens">
        <h2 id="tokens">API tokens</h2>
        ${tokens.length === 0 ? html`<p class="quiet">No API tokens yet. Programs send one as <code>Authorization: Bearer …</code>.</p>` : table(tokenColumns, tokens.map(tokenRow))}
        ${form}
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
      action: '/app/account/tokens/end',
      fields: html`<input type="hidden" name="id" value="${id}">
                ${confirmBox('Revoke this token. Programs that use it stop working.')}`,
      button: 'Revoke',
    }),
  ]
}
