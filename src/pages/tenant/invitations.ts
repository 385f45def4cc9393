import { type Html, html } from '../html.ts'
import { timeText } from '../time.ts'
import { roleOptions } from './members.ts'

export type ShownInvitation = {
  id: string
  email: string
  role: string
  department: string | null
  expiresAt: string
}

/** Who is invited and has not come yet, and a form to invite. */
export function invitationSection(invitations: readonly ShownInvitation[]): Html {
  return html`<section class="card" aria-labelledby="invitations">
        <h2 id="invitations">Invitations</h2>
        ${invitations.length === 0 ? html`<p class="quiet">Nobody is waited for.</p>` : invitationTable(invitations)}
        <form class="form" method="post" action="/app/tenant/invitations">
          <h3>Invite somebody</h3>
          <label>E-mail <input type="email" name="email" required maxlength="320" autocomplete="off"></label>
          <label>Role <select name="role">${roleOptions('viewer')}</select></label>
          <label>Department (optional) <input name="department" maxlength="100" autocomplete="off"></label>
          <p class="quiet small">Whoever next signs in with this e-mail, verified by a provider trusted for it, becomes a member. No mail is sent.</p>
          <button class="button">Invite</button>
        </form>
      </section>`
}

function invitationTable(invitations: readonly ShownInvitation[]): Html {
  const rows = invitations.map(
    ({ id, email, role, department, expiresAt }) => html`<tr>
            <td class="wrap">${email}</td>
            <td>${role}${department === null ? '' : `, ${department}`}</td>
            <td>${timeText(expiresAt)}</td>
            <td class="actions"><form method="post" action="/app/tenant/invitations/withdraw">
              <input type="hidden" name="id" value="${id}">
              <button class="button plain slim" aria-label="Withdraw the invitation of ${email}">Withdraw</button>
            </form></td>
          </tr>`,
  )
  return html`<div class="scroll"><table>
          <thead><tr><th scope="col">E-mail</th><th scope="col">As</th><th scope="col">Until</th><th><span class="unseen">Withdraw</span></th></tr></thead>
          <tbody>${rows}</tbody>
        </table></div>`
}
