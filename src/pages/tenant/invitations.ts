import { type Html, html } from '#src/pages/html.ts'
import { table } from '#src/pages/table.ts'
import { timeText } from '#src/pages/time.ts'
import { roleOptions } from './members.ts'

export type ShownInvitation = {
  id: string
  email: string
  role: string
  department: string | null
  expiresAt: string
}

const columns = [
  { label: 'E-mail', kind: 'wrap' },
  { label: 'As' },
  { label: 'Until' },
  { label: 'Withdraw', kind: 'actions' },
] as const

/** Who is invited and has not come yet, and a form to invite. */
export function invitationSection(invitations: readonly ShownInvitation[]): Html {
  return html`<section class="card" aria-labelledby="invitations">
        <h2 id="invitations">Invitations</h2>
        ${invitations.length === 0 ? html`<p class="quiet">Nobody is waited for. Invite somebody below.</p>` : table(columns, invitations.map(invitationRow))}
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
