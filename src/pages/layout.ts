import { type Permission, permissionsOf } from '#src/access/roles.ts'
import { type Html, html } from './html.ts'

/**
 * The frame of every page: one column, one heading.
 * @param open which page it is, for somebody who is signed in
 * @param head what else the page needs: hardly any has a script
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
    <a class="skip" href="#main">Skip to the content</a>
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
function navigation({ current, role, operator }: Navigation): Html {
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

/** What was just done, as `?done=…` says it; nothing for what is none of the sentences. */
export function noticeText(
  sentences: Readonly<Record<string, string>>,
  done: string | undefined,
): Html {
  const known = Object.entries(sentences).find(([name]) => name === done)
  return known === undefined ? html`` : html`<p class="notice" role="status">${known[1]}</p>`
}

/** Why what was asked for was not done. */
export function faultText(fault: string | null): Html {
  return fault === null ? html`` : html`<p class="notice fault" role="alert">${fault}</p>`
}
