import { type Html, html } from '#src/pages/kit/html.ts'
import { icon } from '#src/pages/kit/icon.ts'
import { drawer, layout, type Page } from '#src/pages/kit/layout.ts'
import type { Group } from './operations.ts'

/** The pages beside those of the operations, in the order of their links. */
const before = [
  { href: '/docs', label: 'First call' },
  { href: '/docs/guide', label: 'Guide' },
] as const
const after = [
  { href: '/docs/events', label: 'Event types' },
  { href: '/docs/errors', label: 'Errors' },
  { href: '/docs/changelog', label: 'Changelog' },
  { href: '/openapi.json', label: 'OpenAPI document' },
] as const

/** What a page of the documentation shows beside its title. */
export type DocsPage = {
  title: string
  /** Path of the page, or of the entry that it belongs to. */
  current: string
  main: Html
  head?: Html
  /** What was searched for. */
  search?: string
}

/** A page of the documentation: search, and links to all others, beside it. */
export function docsLayout(
  groups: readonly Group[],
  { title, current, main, head, search = '' }: DocsPage,
): Page {
  const links = navigation(groups, current, search)
  return layout(title, main, { side: drawer(title, links) }, head)
}

function navigation(groups: readonly Group[], current: string, search: string): Html {
  const link = ({ href, label }: { href: string; label: string }) =>
    html`<a href="${href}"${href === current ? html` aria-current="page"` : ''}>${label}</a>`
  const sections = [...Map.groupBy(groups, ({ section }) => section)].map(
    ([section, inside]) =>
      html`<span class="group">${section}</span>${inside.map(({ href, title }) => link({ href, label: title }))}`,
  )
  return html`<form class="find" role="search" method="get" action="/docs/search">${icon('search')}<input type="search" name="q" value="${search}" maxlength="100" placeholder="Search the docs" aria-label="Search the documentation" data-search></form>
      <nav class="pages docs" aria-label="Documentation">${before.map(link)}${sections}<span class="group">More</span>${after.map(link)}</nav>`
}
