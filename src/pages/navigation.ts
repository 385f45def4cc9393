import { type Permission, permissionsOf } from '#src/access/roles.ts'
import { type Html, html } from './html.ts'

/** Which page is open, and the role of whoever looks: what they may not do is not offered. */
export type Navigation = { readonly current: string; readonly role: string | null }

type Entry = { href: string; label: string; needs?: Permission }

const entries: readonly Entry[] = [
  { href: '/', label: 'Home' },
  { href: '/app/tenant', label: 'Members', needs: 'user:manage' },
  { href: '/app/webhooks', label: 'Webhooks', needs: 'user:manage' },
  { href: '/app/account', label: 'Account' },
  { href: '/app/access', label: 'Who may do what' },
]

/** The links between the pages; the one that is open says so. */
export function navigation({ current, role }: Navigation): Html {
  const permissions = permissionsOf(role)
  const links = entries
    .filter(({ needs }) => needs === undefined || permissions.includes(needs))
    .map(({ href, label }) =>
      href === current
        ? html`<a href="${href}" aria-current="page">${label}</a>`
        : html`<a href="${href}">${label}</a>`,
    )
  return html`<nav class="pages" aria-label="Pages">${links}</nav>`
}
