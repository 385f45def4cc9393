import { html, withCodeSpans } from '../html.ts'
import { layout } from '../layout.ts'

/** What callers of the API can notice, newest release first. */
const releases: readonly { version: string; changes: readonly string[] }[] = [
  {
    version: '0.1.0',
    changes: [
      'Every schema, operation and problem of the API description has a name; ids and `limit` are integers.',
      'The description has a webhook with a schema for each type of event.',
      '`Idempotency-Key` makes a creating request happen once. Operations that take none refuse it.',
      '`ETag`, `If-Match` and `If-None-Match` on objects that change.',
      'A malformed request lists every refused value in `errors`; unknown query parameters are 400.',
      'Lists have filters, `sort` and a `Link` header with the next and the previous page.',
    ],
  },
]

export function changelogPage(): string {
  return layout(
    'Changelog',
    html`<header class="head">
        <h1>Changelog</h1>
        <p class="quiet">Changes of the API. Fields and types of events may be added at any time: ignore those that you do not know.</p>
      </header>
      ${releases.map(
        ({ version, changes }) => html`<section class="card" aria-label="${version}">
        <h2>${version}</h2>
        <ul>${changes.map((change) => html`<li>${withCodeSpans(change)}</li>`)}</ul>
      </section>`,
      )}
      <p><a href="/docs">API reference</a></p>`,
  )
}
