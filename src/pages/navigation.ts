import { type Permission, permissionsOf } from '#src/access/roles.ts'
import { type Html, html } from './html.ts'

/**
 * Which page is open, and the role of whoever looks: what they may not do is not offered. Whether
 * an operator looks is known on the start page and on the operators' own.
 */
export type Navigation = {
  readonly current: string
  readonly role: string | null
  readonly operator?: boolean
}

type Entry = { href: string; label: string; needs?: Permission | 'operator' }

const entries: readonly Entry[] = [
  { href: '/', label: 'Home' },
  { href: '/app/tenant', label: 'Members', needs: 'user:manage' },
  { href: '/app/webhooks', label: 'Webhooks', needs: 'user:manage' },
  { href: '/app/account', label: 'Account' },
  { href: '/app/access', label: 'Who may do what' },
  { href: '/app/billing', label: 'Billing events', needs: 'operator' },
]

/** The links between the pages; the one that is open says so. */
export function navigation({ current, role, operator = false }: Navigation): Html {
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
