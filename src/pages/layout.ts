import { type Permission, permissionsOf } from '#src/access/roles.ts'
import { type Html, html } from './html.ts'

/**
 * The frame of every page: one column, one heading.
 * @param open the current page and its viewer; without it there is no navigation
 * @param head further elements for `<head>`
 */
export function layout(title: string, main: Html, open?: Navigation, head?: Html): string {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} · Gatehouse</title>
    <link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/assets/gatehouse.css">
    ${head ?? ''}
  </head>
  <body>
    <a class="skip" href="#main">Skip to content</a>
    <header class="top">
      <div class="bar">
        <a class="brand" href="/">Gatehouse</a>
        ${open ? navigation(open) : ''}
        ${open ? signOutButton : ''}
      </div>
    </header>
    <main id="main">
      ${main}
    </main>
    <footer class="foot"><a href="/docs">API reference</a></footer>
  </body>
</html>
`.markup
}

const signOutButton = html`<form class="leave" method="post" action="/auth/logout"><button class="button plain slim">Sign out</button></form>`

/** The person a page is rendered for. Actions they may not perform are not shown. */
export type Viewer = {
  readonly role: string | null
  /** True for an operator (setting OPERATORS). */
  readonly operator: boolean
}

/** The current page and its viewer. */
export type Navigation = Viewer & { readonly current: string }

type Entry = { href: string; label: string; needs?: Permission | 'operator' }

const entries: readonly Entry[] = [
  { href: '/', label: 'Home' },
  { href: '/app/documents', label: 'Documents', needs: 'post:read' },
  { href: '/app/tenant', label: 'Members', needs: 'user:manage' },
  { href: '/app/webhooks', label: 'Webhooks', needs: 'user:manage' },
  { href: '/app/billing', label: 'Billing events', needs: 'operator' },
  { href: '/app/account', label: 'Account' },
  { href: '/app/access', label: 'Permissions' },
]

/** The links between the pages, with the current one marked. */
function navigation({ current, role, operator }: Navigation): Html {
  const permissions: readonly string[] = [...permissionsOf(role), ...(operator ? ['operator'] : [])]
  const links = entries
    .filter(({ needs }) => needs === undefined || permissions.includes(needs))
    .map(({ href, label }) =>
      href === current
        ? html`<a href="${href}" aria-current="page">${label}</a>`
        : html`<a href="${href}">${label}</a>`,
    )
  return html`<nav class="pages" aria-label="Pages">${links}</nav>`
}

/** The navigation entry that a path is below; null for an entry itself. */
export function entryAbove(path: string): { href: string; label: string } | null {
  return entries.find(({ href }) => href !== '/' && path.startsWith(`${href}/`)) ?? null
}

/** The notice for `?done=…`; empty for an unknown key. */
export function noticeText(
  notices: Readonly<Record<string, string>>,
  done: string | undefined,
): Html {
  const known = Object.entries(notices).find(([name]) => name === done)
  return known === undefined ? html`` : html`<p class="notice" role="status">${known[1]}</p>`
}

/** Why an action was not carried out. */
export function faultText(fault: string | null): Html {
  return fault === null ? html`` : html`<p class="notice fault" role="alert">${fault}</p>`
}
