import { type ErrorCode, errorCodes, errorTable, problemType } from '#src/http/problems.ts'
import { pageHead } from '#src/pages/kit/components.ts'
import { type Html, html, withCodeSpans } from '#src/pages/kit/html.ts'
import type { Page } from '#src/pages/kit/layout.ts'
import { docsLayout } from './frame.ts'
import type { Group } from './operations.ts'

/** The page that the `type` of a problem leads to: meaning, cause and remedy. */
export function errorPage(groups: readonly Group[], code: ErrorCode): Page {
  const { status, title, meaning, cause, remedy } = errorTable[code]
  return docsLayout(groups, {
    title,
    current: '/docs/errors',
    main: html`${pageHead({ trail: { href: '/docs/errors', label: 'Errors' }, title: title, lead: html`Status ${status}, type <code>${problemType(code)}</code>` })}
      <section class="card">
        ${part('Meaning', meaning)}
        ${part('Cause', cause)}
        ${part('What to do', remedy)}
      </section>`,
  })
}

function part(heading: string, text: string): Html {
  return html`<h2>${heading}</h2>
        <p>${withCodeSpans(text)}</p>`
}

/** All errors, by status. */
export function errorsPage(groups: readonly Group[]): Page {
  const codes = [...errorCodes].sort(
    (one, other) => errorTable[one].status - errorTable[other].status,
  )
  const byStatus = [...Map.groupBy(codes, (code) => errorTable[code].status)]
  return docsLayout(groups, {
    title: 'Errors',
    current: '/docs/errors',
    main: html`${pageHead({ title: 'Errors', lead: html`Errors of the API are <code>application/problem+json</code> (RFC 9457). <code>type</code> is the path of a page below.` })}
      <nav class="card topics" aria-label="Statuses">${byStatus.map(([status]) => html`<a href="#status-${status}">${status}</a>`)}</nav>
      <section class="card" aria-label="All errors">
        <div class="scroll"><table class="fields">
          <thead><tr><th scope="col">Status</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
          <tbody>${byStatus.map(([status, same]) => html`${same.map((code, at) => errorRow(code, at === 0 ? html` id="status-${status}"` : ''))}`)}</tbody>
        </table></div>
      </section>`,
  })
}

function errorRow(code: ErrorCode, anchor: Html | ''): Html {
  const { status, title } = errorTable[code]
  return html`<tr${anchor}>
            <td>${status}</td>
            <td><a href="${problemType(code)}"><code>${code}</code></a></td>
            <td>${title}</td>
          </tr>`
}
