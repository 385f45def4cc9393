import { roles } from '#src/access/roles.ts'
import { auditSection, type Trail } from './audit.ts'
import { type Html, html, table, timeText } from './html.ts'
import { layout, noticeText, type Viewer } from './layout.ts'

export type TenantView = {
  viewer: Viewer
  name: string
  /** Whoever looks. */
  userId: number
  members: readonly ShownMember[]
  invitations: readonly ShownInvitation[]
  audit: Trail
  /** What was just done; absent when the page was simply opened. */
  done: string | undefined
}

const notices = {
  changed: 'Changed, from their next request on.',
  removed: 'Removed. Their sessions and tokens here have ended.',
  invited: 'Invited. They become a member when they next sign in with that e-mail.',
  joined: 'They have an account with that e-mail and are a member now.',
  withdrawn: 'The invitation is withdrawn.',
} as const
export type TenantNotice = keyof typeof notices

/** The people of a tenant, for those who manage them. */
export function tenantPage(view: TenantView): string {
  const { members } = view
  const whoIs = (userId: number) => {
    const member = members.find(({ id }) => id === userId)
    return member === undefined ? `user ${userId}` : nameOf(member)
  }
  return layout(
    'Members',
    html`<header class="head">
        <h1 class="wrap">${view.name}</h1>
        <p class="quiet">Who belongs to it. <a href="/app/access">See what each role may do</a></p>
      </header>
      ${noticeText(notices, view.done)}
      ${memberSection(members, view.userId)}
      ${invitationSection(view.invitations)}
      ${auditSection('/app/tenant', view.audit, whoIs)}`,
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
  { label: 'E-mail', kind: 'wrap' },
  { label: 'As' },
  { label: 'Until' },
  { label: 'Withdraw', kind: 'actions' },
] as const

/** Who is invited and has not come yet, and a form to invite. */
function invitationSection(invitations: readonly ShownInvitation[]): Html {
  return html`<section class="card" aria-labelledby="invitations">
        <h2 id="invitations">Invitations</h2>
        ${invitations.length === 0 ? html`<p class="quiet">Nobody is waited for. Invite somebody below.</p>` : table(invitationColumns, invitations.map(invitationRow))}
        <form class="form" method="post" action="/app/tenant/invitations">
          <h3>Invite somebody</h3>
          <label>E-mail <input type="email" name="email" required maxlength="320" autocomplete="off"></label>
          <div class="pair">
            <label>Role <select name="role">${roleOptions('viewer')}</select></label>
            <label>Department (optional) <input name="department" maxlength="100" autocomplete="off"></label>
          </div>
          <p class="quiet small">Whoever next signs in with this e-mail, verified by a provider trusted for it, becomes a member. No mail is sent.</p>
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
              <button class="button plain slim" aria-label="Withdraw the invitation of ${email}">Withdraw</button>
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
  { label: 'Who', kind: 'wrap' },
  { label: 'Role' },
  { label: 'Since' },
  { label: 'Remove', kind: 'actions' },
] as const

/**
 * Who is in the tenant, with what each may do and a way to change it.
 * @param own id of whoever looks
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
              <input name="department" maxlength="100" value="${member.department ?? ''}" placeholder="no department" aria-label="Department of ${name}">
              <button class="button plain slim" aria-label="Save the changes of ${name}">Save</button>
            </form>`
}

function removeForm(member: ShownMember): Html {
  return html`<form method="post" action="/app/tenant/members/remove">
              <input type="hidden" name="id" value="${member.id}">
              <button class="button plain slim risky" aria-label="Remove ${nameOf(member)}">Remove</button>
            </form>`
}

/** A role that the program does not know stays what it is until another one is chosen. */
function roleOptions(chosen: string): Html {
  const all = roles.some((role) => role === chosen) ? roles : [chosen, ...roles]
  const options = all.map((role) =>
    role === chosen ? html`<option selected>${role}</option>` : html`<option>${role}</option>`,
  )
  return html`${options}`
}

/** How people are called: by their address where it is known. */
function nameOf({ id, email }: Pick<ShownMember, 'id' | 'email'>): string {
  return email ?? `user ${id}`
}
