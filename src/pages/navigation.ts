import { type Permission, permissionsOf } from '#src/access/roles.ts'
import { type Html, html } from './html.ts'

/** Whoever looks at a page: what they may not do is not offered. */
export type Viewer = {
  readonly role: string | null
  /** Whether they run the service. */
  readonly operator: boolean
}

/** Which page is open, and who looks at it. */
export type Navigation = Viewer & { readonly current: string }

type Entry = { href: string; label: string; needs?: Permission | 'operator' }

const entries: readonly Entry[] = [
  { href: '/', label: 'Home' },
  { href: '/app/documents', label: 'Documents', needs: 'post:read' },
  { href: '/app/tenant', label: 'Members', needs: 'user:manage' },
  { href: '/app/webhooks', label: 'Webhooks', needs: 'user:manage' },
  { href: '/app/billing', label: 'Billing events', needs: 'operator' },
  { href: '/app/account', label: 'Account' },
  { href: '/app/access', label: 'Who may do what' },
]

/** The links between the pages; the one that is open says so. */
export function navigation({ current, role, operator }: Navigation): Html {
  const rights: readonly string[] = [...permissionsOf(role), ...(operator ? ['operator'] : [])]
  const links = entries
    .filter(({ needs }) => needs === undefined || rights.includes(needs))
    .map(({ href, label }) =>
      href === current
        ? html`<a href="${href}" aria-current="page">${label}</a>`
        : html`<a href="${href}">${label}</a>`,
    )
  return html`<nav class="pages" aria-label="Pages">${links}</nav>`
}

/** The entry below which a path lies; null where there is none, and for an entry itself. */
export function entryAbove(path: string): { href: string; label: string } | null {
  return entries.find(({ href }) => href !== '/' && path.startsWith(`${href}/`)) ?? null
}
