import { confirmation } from '#src/pages/kit/components.ts'
import { type Html, html, isolated, table, timeText } from '#src/pages/kit/html.ts'
import { layout, type Page, type Viewer } from '#src/pages/kit/layout.ts'

export type ShownOwnInvitation = {
  id: string
  tenant: { name: string }
  role: string
  department: string | null
  inviter: string | null
  expiresAt: string
}

const columns = [
  { label: 'Tenant', kind: 'wrap' },
  { label: 'Role' },
  { label: 'Invited by', kind: 'wrap' },
  { label: 'Expires' },
  { label: 'Answer', kind: 'actions' },
] as const

/** The viewer's open invitations; empty without any. */
export function ownInvitationSection(invitations: readonly ShownOwnInvitation[]): Html {
  if (invitations.length === 0) return html``
  const rows = invitations.map((invitation) => [
    isolated(invitation.tenant.name),
    roleText(invitation),
    isolated(invitation.inviter ?? 'an admin'),
    timeText(invitation.expiresAt),
    answerForms(invitation, ' slim'),
  ])
  return html`<section class="card" aria-labelledby="own-invitations">
        <h2 id="own-invitations">Invitations for you</h2>
        ${table(columns, rows)}
      </section>`
}

/** True for the path that a sign-in returns to on the way to an invitation. */
export function isInvitationPage(path: string): boolean {
  return path.startsWith('/app/invitations/')
}

/** The page of one invitation. @param link the secret of its link, if that was opened */
export function ownInvitationPage(
  viewer: Viewer,
  invitation: ShownOwnInvitation,
  link?: string,
): Page {
  const { tenant, inviter, expiresAt } = invitation
  return layout(
    'Invitation',
    html`<section class="card narrow">
        <h1 class="wrap">Join ${isolated(tenant.name)}?</h1>
        <p class="wrap">${isolated(inviter ?? 'An admin')} has invited you as ${roleText(invitation)}. Its admins will see your email address in the list of members.</p>
        ${answerForms(invitation, '', link)}
        <p class="quiet small">The invitation expires ${timeText(expiresAt)}. If you decline, the tenant is not notified.</p>
      </section>`,
    { current: '/app/account', ...viewer },
  )
}

function roleText({ role, department }: ShownOwnInvitation): Html {
  return department === null ? html`${role}` : html`${role}, ${isolated(department)}`
}

function answerForms({ id, tenant }: ShownOwnInvitation, size: '' | ' slim', link?: string): Html {
  const secret = link === undefined ? '' : html`<input type="hidden" name="link" value="${link}">`
  return html`<div class="row">
              <form method="post" action="/invitations/${id}/accept">${secret}<button class="button${size}" aria-label="Accept the invitation to ${tenant.name}">Accept</button></form>
              ${confirmation({
                label: 'Decline',
                name: `Decline the invitation to ${tenant.name}`,
                action: `/invitations/${id}/decline`,
                fields: html`${secret}<p>To join later you need a new invitation.</p>`,
                button: 'Decline',
              })}
            </div>`
}
