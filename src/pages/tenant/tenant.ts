import { roles } from '#src/access/roles.ts'
import type { Usage, Used } from '#src/auth/members/usage.ts'
import { auditSection, type Trail } from '#src/pages/account/audit.ts'
import { avatar } from '#src/pages/kit/avatar.ts'
import {
  badge,
  confirmation,
  confirmBox,
  filterBar,
  pageHead,
  searchField,
} from '#src/pages/kit/components.ts'
import { copyButton, type Html, html, isolated, table, timeText } from '#src/pages/kit/html.ts'
import { layout, noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'

export type TenantView = {
  viewer: Viewer
  name: string
  /** Id of the viewer. */
  userId: number
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
  /** Cursor of the next page; null on the last one. */
  nextCursor: string | null
  /** Part of an address or an id; empty for all members. */
  search: string
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
} as const
export type TenantNotice = keyof typeof notices

/** Members and invitations of a tenant, for those who manage them. */
export function tenantPage(view: TenantView): Page {
  const { names } = view
  const nameOfUser = (id: number) => nameOf({ id, name: names.get(id) ?? null, email: null })
  return layout(
    'Members',
    html`${pageHead({ title: isolated(view.name), lead: html`Members and invitations. <a href="/app/access">View the permissions of each role</a>`, actions: html`<a class="button" href="#invite">Invite a member</a>` })}
      ${noticeText(notices, view.done)}
      ${memberSection(view.members, view.userId)}
      ${invitationSection(view.invitations)}
      ${usageSection(view.usage)}
      ${auditSection('/app/tenant', view.audit, nameOfUser)}
      ${deletionSection(view.name)}`,
    { current: '/app/tenant', ...view.viewer },
  )
}

/** What the tenant stores, and how much of its limits that is. */
function usageSection({ resources, events }: Usage): Html {
  return html`<section class="card" aria-labelledby="storage">
        <h2 id="storage">Storage</h2>
        <dl class="facts">
          <div><dt>Resources</dt><dd>${usedText(resources)}</dd></div>
          <div><dt>Events</dt><dd>${usedText(events)}</dd></div>
        </dl>
        <p class="quiet small">Resources are orders, posts, documents, folders, teams and invitations. Events are stored with their deliveries and expire. At a limit, new ones are refused.</p>
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
function deletionSection(name: string): Html {
  return html`<section class="card" aria-labelledby="deletion">
        <h2 id="deletion">Delete this tenant</h2>
        <details class="confirm">
          <summary>Delete ${isolated(name)}</summary>
          <form class="form" method="post" action="/app/tenant/delete">
            <p>Everything in it is deleted: members, posts, orders, documents, invoices, endpoints and events. Members without another tenant lose their accounts. This cannot be undone.</p>
            <label><span>Type its name, <b class="wrap">${isolated(name)}</b>, to confirm</span> <input name="name" required maxlength="200" autocomplete="off"></label>
            <button class="button danger">Delete this tenant now</button>
            <p class="quiet small">You must have signed in within the last five minutes. <a href="/auth/login?reauthenticate=true&amp;return_to=/app/tenant">Confirm your identity</a> first.</p>
          </form>
        </details>
      </section>`
}

export type ShownInvitation = {
  id: string
  email: string
  role: string
  department: string | null
  expiresAt: string
  /** The page on which it is accepted. */
  url: string
}

const invitationColumns = [
  { label: 'Email', kind: 'wrap' },
  { label: 'Role' },
  { label: 'Expires' },
  { label: 'Withdraw', kind: 'actions' },
] as const

/** Pending invitations, and a form to invite a member. */
function invitationSection({ data, nextCursor, isLater, mails }: InvitationPage): Html {
  const rows = data.map((invitation) => invitationRow(invitation, mails))
  const delivery = mails
    ? 'They get an email with a link.'
    : 'No email is sent: send them the link that is shown here.'
  return html`<section class="card" aria-labelledby="invitations">
        <h2 id="invitations">Invitations</h2>
        ${rows.length === 0 ? html`<p class="quiet">No pending invitations.</p>` : table(invitationColumns, rows)}
        ${pageLinks('invitations', isLater, '', nextCursor === null ? null : { invitations: nextCursor })}
        <form class="form" method="post" action="/app/tenant/invitations">
          <h3 id="invite">Invite a member</h3>
          <label>Email <input type="email" name="email" required maxlength="320" autocomplete="off"></label>
          <div class="pair">
            <label>Role <select name="role">${roleOptions('viewer')}</select></label>
            <label>Department (optional) <input name="department" maxlength="100" autocomplete="off"></label>
          </div>
          <p class="quiet small">${delivery} They become a member when they accept, signed in with this email address, verified by a provider that is trusted for it.</p>
          <button class="button">Invite</button>
        </form>
      </section>`
}

function invitationRow(invitation: ShownInvitation, mails: boolean): Html[] {
  const { id, email, role, department, expiresAt, url } = invitation
  return [
    html`${isolated(email)}${mails ? '' : html`<br><code class="clip" id="link-${id}" title="${url}">${url}</code> ${copyButton(`link-${id}`, `Copy the link for ${email}`)}`}`,
    html`${role}${department === null ? '' : html`, ${isolated(department)}`}`,
    timeText(expiresAt),
    confirmation({
      label: 'Withdraw',
      name: `Withdraw the invitation for ${email}`,
      action: '/app/tenant/invitations/withdraw',
      fields: html`<input type="hidden" name="id" value="${id}">
                <p>Its link stops working.</p>`,
      button: 'Withdraw',
    }),
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

/**
 * Members with their roles and departments, which can be changed.
 * @param own id of the viewer
 */
function memberSection({ data, nextCursor, search, isLater }: MemberPage, own: number): Html {
  const rows = data.map((member) => [
    memberCell(member, own),
    changeForm(member),
    timeText(member.createdAt),
    removeForm(member),
  ])
  const base = search === '' ? {} : { search }
  const query = search === '' ? '' : `?${new URLSearchParams(base).toString()}`
  return html`<section class="card" aria-labelledby="members">
        <h2 id="members">Members</h2>
        ${filterBar('/app/tenant', searchField('Name, email or user id', search), search !== '')}
        ${rows.length === 0 ? html`<p class="quiet">No matching members.</p>` : table(memberColumns, rows)}
        ${pageLinks('members', isLater, query, nextCursor === null ? null : { ...base, members: nextCursor })}
      </section>`
}

/** Name and address beside the initials. */
function memberCell(member: ShownMember, own: number): Html {
  const { name, email, id } = member
  const mark = id === own ? html` ${badge('You')}` : ''
  const address =
    name === null
      ? html``
      : html`<span class="quiet wrap">${isolated(email ?? `user ${id}`)}</span>`
  return html`<span class="who">${avatar(nameOf(member))}<span class="person"><span class="wrap">${isolated(nameOf(member))}${mark}</span>${address}</span></span>`
}

function changeForm(member: ShownMember): Html {
  const name = nameOf(member)
  return html`<form class="inline" method="post" action="/app/tenant/members/change">
              <input type="hidden" name="id" value="${member.id}">
              <input type="hidden" name="roleBefore" value="${member.role}">
              <input type="hidden" name="departmentBefore" value="${member.department ?? ''}">
              <select name="role" aria-label="Role of ${name}">${roleOptions(member.role)}</select>
              <input name="department" maxlength="100" value="${member.department ?? ''}" placeholder="No department" aria-label="Department of ${name}">
              <button class="button plain slim" aria-label="Save changes for ${name}">Save</button>
            </form>`
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
function roleOptions(chosen: string): Html {
  const all = roles.some((role) => role === chosen) ? roles : [chosen, ...roles]
  const options = all.map((role) =>
    role === chosen ? html`<option selected>${role}</option>` : html`<option>${role}</option>`,
  )
  return html`${options}`
}

/** The name, or else the email address, or the id for a user without either. */
function nameOf({ id, name, email }: Pick<ShownMember, 'id' | 'name' | 'email'>): string {
  return name ?? email ?? `user ${id}`
}
