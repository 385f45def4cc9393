import { errorCodes, errorTable, problemType } from '#src/http/problems.ts'
import { emptyState, pageHead } from '#src/pages/kit/components.ts'
import { type Html, html, withCodeSpans } from '#src/pages/kit/html.ts'
import type { Page } from '#src/pages/kit/layout.ts'
import { eventKindOf } from '#src/webhooks/events/kinds.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import { docsLayout } from './frame.ts'
import { topics } from './guide.ts'
import type { Group } from './operations.ts'

/** A part of the documentation and the text by which it is found. */
type Place = { href: string; title: string; about: string; text: string }

/** What the documentation has about some words. A part has to contain each of them. */
export function searchPage(groups: readonly Group[], search: string): Page {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const found = words.length === 0 ? [] : placesOf(groups).filter((place) => hasAll(place, words))
  const inTitle = ({ title, about }: Place) =>
    hasAll({ text: `${title} ${about}` }, words) ? 0 : 1
  const sorted = found.toSorted((one, other) => inTitle(one) - inTitle(other))
  return docsLayout(groups, {
    title: 'Search',
    current: '/docs/search',
    search,
    main: html`${pageHead({ title: 'Search', lead: words.length === 0 ? 'Operations, topics of the guide, event types and errors.' : `${found.length} found for “${search}”` })}
      ${sorted.length > 0 ? html`<section class="card" aria-label="Results"><ul class="plain-list">${sorted.map(result)}</ul></section>` : words.length === 0 ? '' : html`<section class="card" aria-label="Results">${emptyState('Nothing has all of these words.', html`<a class="button plain" href="/docs">All operations</a>`)}</section>`}`,
  })
}

function hasAll({ text }: Pick<Place, 'text'>, words: readonly string[]): boolean {
  const searched = text.toLowerCase()
  return words.every((word) => searched.includes(word))
}

function result({ href, title, about }: Place): Html {
  return html`<li><a href="${href}">${title}</a> <span class="quiet">${withCodeSpans(about)}</span></li>`
}

function placesOf(groups: readonly Group[]): Place[] {
  const operations = groups.flatMap(({ title: group, href, entries }) =>
    entries.map(({ method, path, operation }) => {
      const { operationId = '', summary = '', description = '' } = operation
      const about = `\`${method} ${path}\``
      const text = `${group} ${summary} ${method} ${path} ${operationId} ${description}`
      return { href: `${href}#${operationId}`, title: summary, about, text }
    }),
  )
  const guide = topics.map(({ id, title, texts }) => ({
    href: `/docs/guide#${id}`,
    title,
    about: 'Guide',
    text: [title, ...texts].join(' '),
  }))
  const events = eventTypes.map((type) => ({
    href: `/docs/events#${type}`,
    title: type,
    about: `Event. ${eventKindOf(type).summary}`,
    text: `${type} ${eventKindOf(type).summary}`,
  }))
  const errors = errorCodes.map((code) => {
    const { status, title, meaning, cause, remedy } = errorTable[code]
    return {
      href: problemType(code),
      title,
      about: `Error ${status}, \`${code}\``,
      text: `${code} ${status} ${title} ${meaning} ${cause} ${remedy}`,
    }
  })
  return [...operations, ...guide, ...events, ...errors]
}
