import { type Permission, permissionsOf } from '#src/access/roles.ts'
import { assetPath } from './asset-path.ts'
import { type Html, html, isolated } from './html.ts'
import { type IconName, icon } from './icon.ts'

/**
 * The frame of every page: the navigation beside the content (above it on a phone) and one heading.
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
    <link rel="stylesheet" href="${assetPath('gatehouse.css')}">
    <script src="${assetPath('gatehouse.js')}" defer></script>
    ${head ?? ''}
  </head>
  <body${open ? html` class="beside"` : ''}>
    <a class="skip" href="#main">Skip to content</a>
    <header class="side">
      <a class="brand" href="/">${icon('gate')}Gatehouse</a>
      ${open ? navigation(open) : ''}
    </header>
    <div class="view">
      <main id="main">
        ${main}
      </main>
      <footer class="foot"><a href="/docs">API reference</a></footer>
    </div>
  </body>
</html>
`.markup
}

/** The person a page is rendered for. Actions they may not perform are not shown. */
export type Viewer = {
  readonly email: string | null
  readonly role: string | null
  /** True for an operator (setting OPERATORS). */
  readonly operator: boolean
}

/** The current page and its viewer. */
export type Navigation = Viewer & { readonly current: string }

type Need = Permission | 'operator' | 'tenant'
type Entry = { href: string; label: string; icon: IconName; needs?: Need }

/** The pages by groups; a group without a page for the viewer has no heading. */
const groups: readonly { label: string | null; entries: readonly Entry[] }[] = [
  {
    label: null,
    entries: [
      { href: '/', label: 'Home', icon: 'home' },
      { href: '/app/orders', label: 'Orders', icon: 'box' },
      { href: '/app/posts', label: 'Posts', icon: 'list', needs: 'post:read' },
      { href: '/app/documents', label: 'Documents', icon: 'document', needs: 'post:read' },
      { href: '/app/invoices', label: 'Invoices', icon: 'invoice', needs: 'tenant' },
    ],
  },
  {
    label: 'Tenant',
    entries: [
      { href: '/app/tenant', label: 'Members', icon: 'people', needs: 'user:manage' },
      { href: '/app/teams', label: 'Teams', icon: 'folder', needs: 'user:manage' },
      { href: '/app/webhooks', label: 'Webhooks', icon: 'webhook', needs: 'user:manage' },
      { href: '/app/events', label: 'Events', icon: 'stack', needs: 'user:manage' },
      { href: '/app/audit', label: 'Audit log', icon: 'clock', needs: 'user:manage' },
    ],
  },
  {
    label: 'Operator',
    entries: [
      { href: '/app/operations', label: 'Operations', icon: 'pulse', needs: 'operator' },
      { href: '/app/billing', label: 'Billing events', icon: 'card', needs: 'operator' },
    ],
  },
  {
    label: 'You',
    entries: [
      { href: '/app/account', label: 'Account', icon: 'person' },
      { href: '/app/access', label: 'Permissions', icon: 'key' },
    ],
  },
]
const entries = groups.flatMap((group) => group.entries)

/** The links between the pages, with the current one marked, and the viewer with a way to leave. */
function navigation({ current, email, role, operator }: Navigation): Html {
  const had: readonly string[] = [
    ...permissionsOf(role),
    ...(operator ? ['operator'] : []),
    ...(role === null ? [] : ['tenant']),
  ]
  const links = groups.map(({ label, entries }) => {
    const shown = entries
      .filter(({ needs }) => needs === undefined || had.includes(needs))
      .map(
        (entry) =>
          html`<a href="${entry.href}"${entry.href === current ? html` aria-current="page"` : ''}>${icon(entry.icon)}${entry.label}</a>`,
      )
    if (shown.length === 0) return html``
    return html`${label === null ? '' : html`<span class="group">${label}</span>`}${shown}`
  })
  const name = email ?? 'No email address'
  return html`<nav class="pages" aria-label="Pages">${links}</nav>
      <div class="self">
        <span class="who">${avatar(name)}<span class="name">${isolated(name)}</span></span>
        <form method="post" action="/auth/logout"><button class="button plain slim">Sign out</button></form>
      </div>`
}

/** The first letter of a name in a circle, as decoration beside the name. */
export function avatar(name: string): Html {
  const [first = '?'] = name.trim()
  return html`<span class="avatar" aria-hidden="true">${first.toUpperCase()}</span>`
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
