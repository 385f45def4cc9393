import { invitationSection, type ShownInvitation } from '#src/pages/tenant/invitations.ts'
import { memberSection, nameOf, type ShownMember } from '#src/pages/tenant/members.ts'
import { auditSection, type Trail } from './audit.ts'
import { html } from './html.ts'
import { layout } from './layout.ts'
import type { Viewer } from './navigation.ts'
import { noticeText } from './notice.ts'

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
