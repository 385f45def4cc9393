import { pageHead } from '#src/pages/kit/components.ts'
import { copyable, type Html, html } from '#src/pages/kit/html.ts'
import type { Page } from '#src/pages/kit/layout.ts'
import { docsLayout } from './frame.ts'
import { type Group, resourceSection } from './operations.ts'

/** The first page of the documentation: a first request, what holds for all, and where to go on. */
export function startPage(groups: readonly Group[], baseUrl: string): Page {
  const sections = [...Map.groupBy(groups, ({ section }) => section)]
  return docsLayout(groups, {
    title: 'API reference',
    current: '/docs',
    main: html`${pageHead({ title: 'API reference', lead: html`Sign-in, scoped resources and signed webhooks. The same as a document for tools: <a href="/openapi.json">openapi.json</a>.` })}
      ${firstCall(baseUrl, groups)}
      ${basics()}
      ${sections.map(sectionCard)}`,
  })
}

function firstCall(baseUrl: string, groups: readonly Group[]): Html {
  const first = groups.find(({ section }) => section === resourceSection)
  const call = `curl ${baseUrl}/me -H "Authorization: Bearer gth_…"`
  return html`<section class="card" aria-labelledby="first-call">
        <h2 id="first-call">First call</h2>
        <ol class="numbered">
          <li><a href="/app/account/tokens/new">Create an API token</a>. It is shown once.</li>
          <li>Ask who you are, in a terminal:
            ${copyable('first', 'Sample', 'example', call)}</li>
          <li>Go on with ${first === undefined ? 'the operations below' : html`<a href="${first.href}">${first.title.toLowerCase()}</a>`}, or read the <a href="/docs/guide">guide</a>.</li>
        </ol>
      </section>`
}

function basics(): Html {
  return html`<section class="card" aria-labelledby="basics">
        <h2 id="basics">Basics</h2>
        <ul class="bulleted">
          <li>Bodies are JSON. Unknown fields and unknown query parameters are 400.</li>
          <li>Lists take <code>limit</code> (1 to 100) and <code>cursor</code>, and return <code>{ data, nextCursor }</code>. <code>nextCursor</code> is null on the last page. The <code>Link</code> header has the first, the next and the previous page.</li>
          <li>Errors are <code>application/problem+json</code>. <code>type</code> is the path of a page about the error: <a href="/docs/errors">all errors</a>. <code>instance</code> is the request ID, for questions to support.</li>
          <li>404 means that an object does not exist or that you have no access to it. The response is the same in both cases.</li>
          <li>201 has the path of the new object in <code>Location</code>, 405 the methods of the path in <code>Allow</code>. With 429 and 503, <code>Retry-After</code> has the seconds to wait.</li>
        </ul>
      </section>`
}

function sectionCard([section, groups]: [string, Group[]]): Html {
  const id = `section-${section.toLowerCase().replaceAll(/\W+/g, '-')}`
  return html`<section class="card" aria-labelledby="${id}">
        <h2 id="${id}">${section}</h2>
        <dl class="facts glance">${groups.map(
          ({ title, href, entries }) =>
            html`<div><dt><a href="${href}">${title}</a></dt><dd class="quiet">${entries.length === 1 ? '1 operation' : `${entries.length} operations`}</dd></div>`,
        )}</dl>
      </section>`
}
