import { roles } from '#src/access/roles.ts'
import { auditSection, type Trail } from './audit.ts'
import { type Html, html, table, timeText } from './html.ts'
import { layout, noticeText, type Viewer } from './layout.ts'

export type TenantView = {
  viewer: Viewer
  name: string
  /** Id of the viewer. */
  userId: number
  members: readonly ShownMember[]
  invitations: readonly ShownInvitation[]
  audit: Trail
  /** Key of the notice to show, from `?done=`. */
  done: string | undefined
}

const notices = {
  changed: 'Saved. The change takes effect with their next request.',
  removed: 'Member removed. Their sessions and tokens in this tenant have ended.',
  invited: 'Invited. They become a member when they next sign in with that email address.',
  joined: 'Added. They already had an account with that email address.',
  withdrawn: 'Invitation withdrawn.',
} as const
export type TenantNotice = keyof typeof notices

/** Members and invitations of a tenant, for those who manage them. */
export function tenantPage(view: TenantView): string {
  const { members } = view
  const nameOfUser = (userId: number) => {
    const member = members.find(({ id }) => id === userId)
    return member === undefined ? `user ${userId}` : nameOf(member)
  }
  return layout(
    'Members',
    html`<header class="head">
        <h1 class="wrap">${view.name}</h1>
        <p class="quiet">Members and invitations. <a href="/app/access">View the permissions of each role</a></p>
      </header>
      ${noticeText(notices, view.done)}
      ${memberSection(members, view.userId)}
      ${invitationSection(view.invitations)}
      ${auditSection('/app/tenant', view.audit, nameOfUser)}`,
    { current: '/app/tenant', ...view.viewer },
  )
}

export type ShownInvitation = {
  id: string
  email: string
  role: string
  department: string | null
  expiresAt: string
}

const invitationColumns = [
  { label: 'Email', kind: 'wrap' },
  { label: 'Role' },
  { label: 'Expires' },
  { label: 'Withdraw', kind: 'actions' },
] as const

/** Pending invitations, and a form to invite a member. */
function invitationSection(invitations: readonly ShownInvitation[]): Html {
  return html`<section class="card" aria-labelledby="invitations">
        <h2 id="invitations">Invitations</h2>
        ${invitations.length === 0 ? html`<p class="quiet">No pending invitations.</p>` : table(invitationColumns, invitations.map(invitationRow))}
        <form class="form" method="post" action="/app/tenant/invitations">
          <h3>Invite a member</h3>
          <label>Email <input type="email" name="email" required maxlength="320" autocomplete="off"></label>
          <div class="pair">
            <label>Role <select name="role">${roleOptions('viewer')}</select></label>
            <label>Department (optional) <input name="department" maxlength="100" autocomplete="off"></label>
          </div>
          <p class="quiet small">They become a member when they next sign in with this email address, verified by a provider that is trusted for it. No email is sent.</p>
          <button class="button">Invite</button>
        </form>
      </section>`
}

function invitationRow({ id, email, role, department, expiresAt }: ShownInvitation): Html[] {
  return [
    html`${email}`,
    html`${role}${department === null ? '' : `, ${department}`}`,
    timeText(expiresAt),
    html`<form method="post" action="/app/tenant/invitations/withdraw">
              <input type="hidden" name="id" value="${id}">
              <button class="button plain slim" aria-label="Withdraw the invitation for ${email}">Withdraw</button>
            </form>`,
  ]
}

export type ShownMember = {
  id: number
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
function memberSection(members: readonly ShownMember[], own: number): Html {
  const rows = members.map((member) => [
    html`${nameOf(member)} ${member.id === own ? html`<span class="badge">You</span>` : ''}`,
    changeForm(member),
    timeText(member.createdAt),
    removeForm(member),
  ])
  return html`<section class="card" aria-labelledby="members">
        <h2 id="members">Members</h2>
        ${table(memberColumns, rows)}
      </section>`
}

function changeForm(member: ShownMember): Html {
  const name = nameOf(member)
  return html`<form class="inline" method="post" action="/app/tenant/members/change">
              <input type="hidden" name="id" value="${member.id}">
              <select name="role" aria-label="Role of ${name}">${roleOptions(member.role)}</select>
              <input name="department" maxlength="100" value="${member.department ?? ''}" placeholder="No department" aria-label="Department of ${name}">
              <button class="button plain slim" aria-label="Save changes for ${name}">Save</button>
            </form>`
}

function removeForm(member: ShownMember): Html {
  return html`<form method="post" action="/app/tenant/members/remove">
              <input type="hidden" name="id" value="${member.id}">
              <button class="button plain slim risky" aria-label="Remove ${nameOf(member)}">Remove</button>
            </form>`
}

/** A role that this version does not know stays selected until another one is chosen. */
function roleOptions(chosen: string): Html {
  const all = roles.some((role) => role === chosen) ? roles : [chosen, ...roles]
  const options = all.map((role) =>
    role === chosen ? html`<option selected>${role}</option>` : html`<option>${role}</option>`,
  )
  return html`${options}`
}

/** The email address, or the id for a user without one. */
function nameOf({ id, email }: Pick<ShownMember, 'id' | 'email'>): string {
  return email ?? `user ${id}`
}
