import Type from 'typebox'
import { managingRole } from '#src/access/roles.ts'
import { Line } from '#src/http/schemas.ts'
import { badge, confirmation, confirmBox } from '#src/pages/kit/components.ts'
import { folded, formOf, line, renderForm, submission } from '#src/pages/kit/form.ts'
import { formPage } from '#src/pages/kit/form-page.ts'
import { type Html, html, isolated, table, timeText } from '#src/pages/kit/html.ts'
import { noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import type { ProviderChoice } from '../sign-in/sign-in.ts'
import { deviceName } from './audit.ts'
import { ownInvitationSection, type ShownOwnInvitation } from './invitations.ts'
import { planSection, type ShownPlan } from './plan.ts'
import { accountTab } from './tabs.ts'

export type Account = {
  viewer: Viewer
  identities: readonly ShownIdentity[]
  providers: readonly ProviderChoice[]
  invitations: readonly ShownOwnInvitation[]
  memberships: readonly ShownMembership[]
  sessions: readonly ShownSession[]
  plan: ShownPlan
  /** Key of the notice to show, from `?done=`. */
  done: string | undefined
}

const notices = {
  'session-ended': 'Signed out of that device.',
  'others-ended': 'Signed out of all other devices.',
  'identity-removed': 'Sign-in method removed.',
  joined: 'You are a member now. Switch to the tenant below.',
  declined: 'Invitation declined.',
  left: 'You have left the tenant. Your sessions and tokens in it have ended.',
} as const
export type AccountNotice = keyof typeof notices

const newTenantPath = '/app/account/tenants/new'

export const newTenantForm = formOf({
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

/** The account page: invitations, plan, sign-in methods, sessions, tenants and data. */
export function accountPage(account: Account): Page {
  return accountTab(
    account.viewer,
    '',
    html`${noticeText(notices, account.done)}
      ${ownInvitationSection(account.invitations)}
      ${planSection(account.plan)}
      ${identitySection(account.identities, account.providers)}
      ${sessionSection(account.sessions)}
      ${tenantSection(account)}
      ${dataSection(account.viewer)}`,
  )
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
function tenantSection({ memberships }: Account): Html {
  const isOnly = memberships.length < 2
  const rows = memberships.map(({ id, name, role, active }) => [
    isolated(name),
    role,
    active ? badge('Current') : switchButton(id, name),
    isOnly && role === managingRole ? '' : leaveForm(id, name, isOnly),
  ])
  return html`<section class="card" aria-labelledby="tenants">
        <div class="headed"><h2 id="tenants">Your tenants</h2><a class="button plain" href="${newTenantPath}">Create a tenant</a></div>
        ${table(tenantColumns, rows)}
      </section>`
}

/** The form that creates a tenant. */
export function newTenantPage(viewer: Viewer): Page {
  return formPage({
    viewer,
    list: { href: '/app/account', label: 'Your account' },
    heading: 'Create a tenant',
    lead: 'You become its first admin, and switch to it.',
    content: renderForm(
      newTenantForm,
      { viewer, action: newTenantPath },
      ({ name }) => html`${name}<button class="button">Create the tenant</button>`,
    ),
  })
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
