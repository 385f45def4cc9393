import { roles } from '#src/access/roles.ts'
import { type Html, html } from '#src/pages/html.ts'
import { table } from '#src/pages/table.ts'
import { timeText } from '#src/pages/time.ts'

export type ShownMember = {
  id: number
  email: string | null
  role: string
  department: string | null
  createdAt: string
}

const columns = [
  { label: 'Who', kind: 'wrap' },
  { label: 'Role' },
  { label: 'Since' },
  { label: 'Remove', kind: 'actions' },
] as const

/**
 * Who is in the tenant, with what each may do and a way to change it.
 * @param own id of whoever looks
 */
export function memberSection(members: readonly ShownMember[], own: number): Html {
  const rows = members.map((member) => [
    html`${nameOf(member)} ${member.id === own ? html`<span class="badge">You</span>` : ''}`,
    changeForm(member),
    timeText(member.createdAt),
    removeForm(member),
  ])
  return html`<section class="card" aria-labelledby="members">
        <h2 id="members">Members</h2>
        ${table(columns, rows)}
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
export function roleOptions(chosen: string): Html {
  const all = roles.some((role) => role === chosen) ? roles : [chosen, ...roles]
  const options = all.map((role) =>
    role === chosen ? html`<option selected>${role}</option>` : html`<option>${role}</option>`,
  )
  return html`${options}`
}

/** How people are called: by their address where it is known. */
export function nameOf({ id, email }: Pick<ShownMember, 'id' | 'email'>): string {
  return email ?? `user ${id}`
}
