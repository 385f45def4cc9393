import { type ApiDescription, answerOf, type Operation } from '#src/api/description.ts'
import { type Html, html } from './html.ts'
import { layout } from './layout.ts'
import { operationEntry } from './reference-operation.ts'

/** Tags in the order a reader needs them; those that are missing here come behind. */
const order = ['sign-in', 'account', 'users', 'orders', 'posts', 'documents', 'folders', 'teams']

type Entry = { path: string; method: string; operation: Operation }

/**
 * The API description as a page. Made here and not with a ready-made viewer: those are scripts with
 * files of their own on the disk, and neither the content policy nor the single binary has room for
 * either.
 */
export function referencePage(description: ApiDescription): string {
  const groups = groupByTag(description)
  return layout(
    'API reference',
    html`<header class="head">
        <h1>API reference</h1>
        <p class="quiet">${description.info.title} ${description.info.version}. The same for programs: <a href="/openapi.json">openapi.json</a>.</p>
      </header>
      ${basics()}
      <nav class="card topics" aria-label="Topics">${groups.map(([tag]) => html`<a href="#${anchorOf(tag)}">${tag}</a>`)}</nav>
      ${groups.map(([tag, entries]) => group(description, tag, entries))}`,
  )
}

function basics(): Html {
  return html`<section class="card" aria-labelledby="basics">
        <h2 id="basics">What holds everywhere</h2>
        <ul class="plain">
          <li>A request comes with the session cookie <code>sid</code>, or with <code>Authorization: Bearer gth_…</code>, an API token from your account page.</li>
          <li>Bodies are JSON. A field that is not listed is refused with 400.</li>
          <li>A list has <code>?limit=1…100&amp;cursor=</code> and answers <code>{data, nextCursor}</code>; <code>nextCursor</code> is null on the last page.</li>
          <li>A refusal is <code>application/problem+json</code> (RFC 9457): <code>type</code>, <code>title</code>, <code>status</code>, perhaps <code>detail</code>, and <code>instance</code>, the id of the request. 429 and 503 say in <code>Retry-After</code> how many seconds to wait.</li>
          <li>404 means: it does not exist, or it is not yours. Nobody is told which.</li>
        </ul>
      </section>`
}

function group(description: ApiDescription, tag: string, entries: readonly Entry[]): Html {
  const resolve = (answer: Parameters<typeof answerOf>[1]) => answerOf(description, answer)
  return html`<section class="card" aria-labelledby="${anchorOf(tag)}">
        <h2 id="${anchorOf(tag)}" class="topic">${tag}</h2>
        ${entries.map(({ path, method, operation }) => operationEntry(path, method, operation, resolve))}
      </section>`
}

function groupByTag({ paths }: ApiDescription): [string, Entry[]][] {
  const entries = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation })),
  )
  const groups = Map.groupBy(entries, ({ operation }) => operation.tags?.[0] ?? 'other')
  const rank = (tag: string) => (order.includes(tag) ? order.indexOf(tag) : order.length)
  return [...groups].sort(([one], [other]) => rank(one) - rank(other))
}

function anchorOf(tag: string): string {
  return tag.replaceAll(/\W+/g, '-')
}
