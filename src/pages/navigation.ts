import { type Html, html } from './html.ts'

/** What the signed-in person may open, as far as the pages' own links go. */
export type Navigation = { readonly current: string }

const entries: readonly { href: string; label: string }[] = [
  { href: '/', label: 'Home' },
  { href: '/app/account', label: 'Account' },
]

/** The links between the pages; the one that is open says so. */
export function navigation({ current }: Navigation): Html {
  const links = entries.map(({ href, label }) =>
    href === current
      ? html`<a href="${href}" aria-current="page">${label}</a>`
      : html`<a href="${href}">${label}</a>`,
  )
  return html`<nav class="pages" aria-label="Pages">${links}</nav>`
}
