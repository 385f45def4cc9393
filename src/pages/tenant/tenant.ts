import Type from 'typebox'
import { canGiveRole } from '#src/access/policy.ts'
import { leastRole, roles } from '#src/access/roles.ts'
import type { Usage, Used } from '#src/auth/members/usage.ts'
import type { Count } from '#src/http/lists/pagination.ts'
import { Line, OptionalLine, Text } from '#src/http/schemas.ts'
import { auditSection, type Trail } from '#src/pages/account/audit.ts'
import { avatar } from '#src/pages/kit/avatar.ts'
import { badge, confirmation, confirmBox, pageHead } from '#src/pages/kit/components.ts'
import { filtersOf, type ListQuery, type Used as UsedFilters } from '#src/pages/kit/filters.ts'
import { choice, folded, formOf, hidden, line, renderForm } from '#src/pages/kit/form.ts'
import { formPage } from '#src/pages/kit/form-page.ts'
import { copyButton, type Html, html, isolated, table, timeText } from '#src/pages/kit/html.ts'
import { layout, noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { countLine, listHref } from '#src/pages/kit/list.ts'

export type TenantView = {
  viewer: Viewer
  name: string
  members: MemberPage
  invitations: InvitationPage
  usage: Usage
  audit: Trail
  /** Addresses of the members that the audit entries name. */
  names: ReadonlyMap<number, string | null>
  /** Key of the notice to show, from `?done=`. */
  done: string | undefined
}

export type MemberPage = {
  data: readonly ShownMember[]
  /** The providers whose groups decide a role, by member. */
  roleProviders: ReadonlyMap<number, string>
  /** Cursor of the next page; null on the last one. */
  nextCursor: string | null
  count: Count
  query: ListQuery
  used: UsedFilters
  /** True unless this is the first page. */
  isLater: boolean
}

export type InvitationPage = {
  data: readonly ShownInvitation[]
  nextCursor: string | null
  isLater: boolean
  /** Whether invitations are mailed; otherwise their links are shown. */
  mails: boolean
}

const notices = {
  changed: 'Saved. The change takes effect with their next request.',
  removed: 'Member removed. Their sessions and tokens in this tenant have ended.',
  mailed: 'Invited. An email with a link is on its way. They become a member when they accept.',
  invited: 'Invited. Send them the link below. They become a member when they accept.',
  withdrawn: 'Invitation withdrawn.',
  resent: 'The invitation is being sent again, with the same link.',
  renewed: 'The invitation is valid for another 14 days, with the same link.',
  'sent-today': 'This invitation was sent today already. Send it again tomorrow.',
  renamed: 'Renamed.',
  created: 'Tenant created. Invite its first members.',
} as const
export type TenantNotice = keyof typeof notices

const Department = OptionalLine(100)
const role = choice(Type.Enum([...roles]), 'Role')

export const changeForm = formOf({
  id: hidden(Type.String({ pattern: '^[1-9][0-9]{0,18}$' })),
  /** What the page showed: the change is refused if it is not so any more. */
  roleBefore: hidden(Type.Optional(Text(64))),
  departmentBefore: hidden(Type.Optional(Department)),
  role,
  department: line(Department, 'Department', { attributes: { placeholder: 'No department' } }),
})
export const invitationForm = formOf({
  email: line(Type.String({ format: 'email', minLength: 1, maxLength: 320 }), 'Email', {
    attributes: { type: 'email' },
  }),
  role,
  department: line(Department, 'Department (optional)'),
})
export const nameForm = formOf({ name: line(Line(200), 'Name', { required: true }) })
export const deletionForm = formOf({ name: line(Text(200), 'Name') })

/** Members and invitations of a tenant, for those who manage them. */
export function tenantPage(view: TenantView): Page {
  const { names } = view
  const nameOfUser = (id: number) => nameOf({ id, name: names.get(id) ?? null, email: null })
  return layout(
    'Members',
    html`${pageHead({ title: isolated(view.name), lead: html`Members and invitations. <a href="/app/access">View the permissions of each role</a>`, actions: html`<a class="button" href="${invitationsPath}/new">Invite a member</a>` })}
      ${noticeText(notices, view.done)}
      ${memberSection(view.members, view.viewer)}
      ${invitationSection(view.invitations)}
      ${nameSection(view.name, view.viewer)}
      ${usageSection(view.usage)}
      ${auditSection('/app/tenant', view.audit, nameOfUser)}
      ${deletionSection(view.name, view.viewer)}`,
    { current: '/app/tenant', ...view.viewer },
  )
}

function nameSection(name: string, viewer: Viewer): Html {
  const form = renderForm(
    nameForm,
    { viewer, action: '/app/tenant/name', values: { name } },
    (inputs) => html`${inputs.name}
          <button class="button plain">Rename</button>`,
  )
  return html`<section class="card" aria-labelledby="name">
        <h2 id="name">Name</h2>
        <p class="quiet small">Members see this name in their list of tenants, and people whom you invite see it in their email.</p>
        ${form}
      </section>`
}

/** What the tenant stores, and how much of its limits that is. */
function usageSection({ resources, events }: Usage): Html {
  return html`<section class="card" aria-labelledby="storage">
        <h2 id="storage">Storage</h2>
        <dl class="facts">
          <div><dt>Resources</dt><dd>${usedText(resources)}</dd></div>
          <div><dt>Events</dt><dd>${usedText(events)}</dd></div>
        </dl>
        <p class="quiet small">Resources are what members create, with folders, teams and invitations. Events are stored with their deliveries and expire. At a limit, new ones are refused.</p>
      </section>`
}

function usedText({ rows, bytes, maxRows, maxBytes }: Used): string {
  const ofRows = maxRows === null ? '' : ` of ${count.format(maxRows)}`
  const ofBytes = maxBytes === null ? '' : ` of ${sizeText(maxBytes)}`
  return `${count.format(rows)}${ofRows} rows, ${sizeText(bytes)}${ofBytes}`
}

const count = new Intl.NumberFormat('en-GB')

function sizeText(bytes: number): string {
  const kibibytes = bytes / 1_024
  if (kibibytes < 1_024) return `${Math.ceil(kibibytes)} KiB`
  return `${count.format(Math.ceil(kibibytes / 1_024))} MiB`
}

/** Deleting the whole tenant, confirmed by typing its name. */
function deletionSection(name: string, viewer: Viewer): Html {
  const typed = html`<span>Type its name, <b class="wrap">${isolated(name)}</b>, to confirm</span>`
  const form = renderForm(
    deletionForm,
    { viewer, action: '/app/tenant/delete', labels: { name: typed } },
    (
      inputs,
    ) => html`<p>Everything in it is deleted: members and what they created, invoices, endpoints and events. Members without another tenant lose their accounts. This cannot be undone.</p>
            ${inputs.name}
            <button class="button danger">Delete this tenant now</button>
            <p class="quiet small">You must have signed in within the last five minutes. <a href="/auth/login?reauthenticate=true&amp;return_to=/app/tenant">Confirm your identity</a> first.</p>`,
  )
  return html`<section class="card" aria-labelledby="deletion">
        <h2 id="deletion">Delete this tenant</h2>
        ${folded(html`Delete ${isolated(name)}`, form, 'confirm')}
      </section>`
}

export type ShownInvitation = {
  id: string
  email: string
  role: string
  department: string | null
  expiresAt: string
  /** It was not created or sent today (UTC), so it can be sent again. */
  isDue: boolean
  /** Its link, with the secret. */
  url: string
}

const invitationsPath = '/app/tenant/invitations'

const invitationColumns = [
  { label: 'Email', kind: 'wrap' },
  { label: 'Role' },
  { label: 'Expires' },
  { label: 'Actions', kind: 'actions' },
] as const

export type NewInvitationView = Pick<InvitationPage, 'mails'> & {
  viewer: Viewer
  /** Who cannot accept an invitation; null if everybody can who has the address. */
  obstacle: string | null
}

/** The form that invites a member. */
export function newInvitationPage({ viewer, mails, obstacle }: NewInvitationView): Page {
  const delivery = mails
    ? 'They get an email with a link, which the page of the members shows too: pass it on if the email does not arrive.'
    : 'No email is sent. The page of the members shows a link: send it to them, and only to them.'
  const options = { role: roleOptions(leastRole) }
  return formPage({
    viewer,
    list: { href: '/app/tenant', label: 'Members' },
    heading: 'Invite a member',
    lead: 'They become a member when they open the link, sign in with this email address, and accept. The link works once.',
    content: renderForm(
      invitationForm,
      { viewer, action: `${invitationsPath}/new`, options, values: { role: leastRole } },
      ({ email, role, department }) => html`${email}
          <div class="pair">${role}${department}</div>
          <p class="quiet small">${delivery}</p>
          ${obstacle === null ? '' : html`<p class="notice">${obstacle}</p>`}
          <button class="button">Invite</button>`,
    ),
  })
}

/** Pending invitations. */
function invitationSection({ data, nextCursor, isLater, mails }: InvitationPage): Html {
  const rows = data.map((invitation) => invitationRow(invitation, mails))
  return html`<section class="card" aria-labelledby="invitations">
        <h2 id="invitations">Invitations</h2>
        ${rows.length === 0 ? html`<p class="quiet">No pending invitations.</p>` : table(invitationColumns, rows)}
        ${rows.length > 0 && mails ? html`<p class="quiet small">An address gets at most one invitation mail a day (UTC) from a tenant, and five from all together. An invitation that is sent again keeps its link and is valid for another 14 days.</p>` : ''}
        ${pageLinks('invitations', isLater, '', nextCursor === null ? null : { invitations: nextCursor })}
      </section>`
}

function invitationRow(invitation: ShownInvitation, mails: boolean): Html[] {
  const { id, email, role, department, expiresAt, isDue, url } = invitation
  const again = mails ? 'Send again' : 'Renew'
  return [
    html`${isolated(email)}<br><code class="clip" id="link-${id}" title="${url}">${url}</code> ${copyButton(`link-${id}`, `Copy the link for ${email}`)}`,
    html`${role}${department === null ? '' : html`, ${isolated(department)}`}`,
    timeText(expiresAt),
    html`${
      isDue
        ? html`<form method="post" action="${invitationsPath}/resend"><input type="hidden" name="id" value="${id}"><input type="hidden" name="role" value="${role}"><button class="button plain slim" aria-label="${again}: the invitation for ${email}">${again}</button></form>`
        : html`<p class="quiet">${again} from tomorrow</p>`
    }${confirmation({
      label: 'Withdraw',
      name: `Withdraw the invitation for ${email}`,
      action: `${invitationsPath}/withdraw`,
      fields: html`<input type="hidden" name="id" value="${id}">
                <p>Its link stops working.</p>`,
      button: 'Withdraw',
    })}`,
  ]
}

/** Links to the first and the next page of a list. @param base query of the first page */
function pageLinks(
  list: 'members' | 'invitations',
  isLater: boolean,
  base: string,
  next: Record<string, string> | null,
): Html {
  if (!isLater && next === null) return html``
  const first = html`<a href="/app/tenant${base}#${list}">First page</a>`
  const following =
    next === null
      ? ''
      : html`<a href="/app/tenant?${new URLSearchParams(next).toString()}#${list}" rel="next">Next page</a>`
  return html`<nav class="row" aria-label="Pages of ${list}">${isLater ? first : ''}${following}</nav>`
}

export type ShownMember = {
  id: number
  name: string | null
  email: string | null
  role: string
  department: string | null
  createdAt: string
}

const memberColumns = [
  { label: 'Member', kind: 'wrap' },
  { label: 'Role' },
  { label: 'Joined' },
  { label: 'Remove', kind: 'actions' },
] as const

/** Members with their roles and departments, which can be changed. */
function memberSection(page: MemberPage, viewer: Viewer): Html {
  const { data, roleProviders, nextCursor, count, query, used, isLater } = page
  const rows = data.map((member) => [
    memberCell(member, viewer),
    html`${changeCell(member, viewer)}${mappedNote(roleProviders.get(member.id))}`,
    timeText(member.createdAt),
    removeForm(member),
  ])
  const path = '/app/tenant'
  const first = listHref('', used)
  return html`<section class="card" aria-labelledby="members">
        <h2 id="members">Members</h2>
        ${countLine(count)}
        ${filtersOf({ path, query, used, looks })}
        ${rows.length === 0 ? html`<p class="quiet">No matching members.</p>` : table(memberColumns, rows)}
        ${pageLinks('members', isLater, first, nextCursor === null ? null : { ...used, members: nextCursor })}
      </section>`
}

const looks = { search: { label: 'Name, email or user id' }, created: { label: 'Joined' } }

/** Name and address beside the initials. */
function memberCell(member: ShownMember, viewer: Viewer): Html {
  const { name, email, id } = member
  const mark = id === viewer.userId ? html` ${badge('You')}` : ''
  const address =
    name === null
      ? html``
      : html`<span class="quiet wrap">${isolated(email ?? `user ${id}`)}</span>`
  return html`<span class="who">${avatar(nameOf(member))}<span class="person"><span class="wrap">${isolated(nameOf(member))}${mark}</span>${address}</span></span>`
}

function changeCell(member: ShownMember, viewer: Viewer): Html {
  const { id, role, department } = member
  const name = nameOf(member)
  const giver = { ...viewer, sessionId: 'of this page', tokenPermissions: null }
  const offered = roleOptions(role).filter(([one]) => canGiveRole(giver, one, id))
  return renderForm(
    changeForm,
    {
      ...{ viewer, action: '/app/tenant/members/change', inline: true },
      options: { role: offered },
      labels: { role: `Role of ${name}`, department: `Department of ${name}` },
      values: { id, role, department, roleBefore: role, departmentBefore: department },
    },
    (inputs) => html`${inputs.role}${inputs.department}
              <button class="button plain slim" aria-label="Save changes for ${name}">Save</button>`,
  )
}

function mappedNote(provider: string | undefined): Html {
  if (provider === undefined) return html``
  return html`<p class="quiet small">Groups at ${provider} decide this role until it is changed here.</p>`
}

function removeForm(member: ShownMember): Html {
  const name = nameOf(member)
  return confirmation({
    label: 'Remove',
    name: `Remove ${name}`,
    action: '/app/tenant/members/remove',
    fields: html`<input type="hidden" name="id" value="${member.id}">
                ${confirmBox(html`Remove ${isolated(name)}. Their sessions and tokens in this tenant end.`)}`,
    button: 'Remove',
  })
}

/** A role that this version does not know stays selected until another one is chosen. */
function roleOptions(chosen: string): [string, string][] {
  const all = roles.some((role) => role === chosen) ? roles : [chosen, ...roles]
  return all.map((role) => [role, role])
}

/** The name, or else the email address, or the id for a user without either. */
function nameOf({ id, name, email }: Pick<ShownMember, 'id' | 'name' | 'email'>): string {
  return name ?? email ?? `user ${id}`
}
