import { html } from '../html.ts'
import { layout } from '../layout.ts'
import { invitationSection, type ShownInvitation } from './invitations.ts'
import { memberSection, type ShownMember } from './members.ts'

export type TenantView = {
  name: string
  /** Whoever looks. */
  userId: number
  role: string | null
  members: readonly ShownMember[]
  invitations: readonly ShownInvitation[]
  /** What was just done; null when the page was simply opened. */
  notice: TenantNotice | null
}

const notices = {
  changed: 'Changed, from their next request on.',
  removed: 'Removed. Their sessions and tokens here have ended.',
  invited: 'Invited. They become a member when they next sign in with that e-mail.',
  joined: 'They have an account with that e-mail and are a member now.',
  withdrawn: 'The invitation is withdrawn.',
} as const
export type TenantNotice = keyof typeof notices

export function isTenantNotice(text: string | undefined): text is TenantNotice {
  return text !== undefined && Object.hasOwn(notices, text)
}

/** The people of a tenant, for those who manage them. */
export function tenantPage(view: TenantView): string {
  return layout(
    'Members',
    html`<header class="head">
        <h1>${view.name}</h1>
        <p class="quiet">Who belongs to it, and what each may do.</p>
      </header>
      ${view.notice === null ? '' : html`<p class="notice" role="status">${notices[view.notice]}</p>`}
      ${memberSection(view.members, view.userId)}
      ${invitationSection(view.invitations)}`,
    { current: '/app/tenant', role: view.role },
  )
}
