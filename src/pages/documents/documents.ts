import { html } from '../html.ts'
import { layout } from '../layout.ts'
import { timeText } from '../time.ts'

export type ShownDocument = { id: number; title: string; body: string; updatedAt: string }

/** The documents of one's teams, newest first. @param nextCursor null on the last page */
export function documentListPage(
  documents: readonly ShownDocument[],
  nextCursor: string | null,
  role: string | null,
): string {
  const rows = documents.map(
    ({ id, title, updatedAt }) => html`<tr>
            <td class="wrap"><a href="/app/documents/${id}">${title}</a></td>
            <td>${timeText(updatedAt)}</td>
          </tr>`,
  )
  const older =
    nextCursor === null
      ? ''
      : html`<p class="row"><a href="/app/documents?cursor=${encodeURIComponent(nextCursor)}">Older documents</a></p>`
  return layout(
    'Documents',
    html`<header class="head">
        <h1>Documents</h1>
        <p class="quiet">What is in the folders of your teams, newest first.</p>
      </header>
      <section class="card">
        ${
          rows.length === 0
            ? html`<p class="quiet">There are none.</p>`
            : html`<div class="scroll"><table>
          <thead><tr><th scope="col">Title</th><th scope="col">Last changed</th></tr></thead>
          <tbody>${rows}</tbody>
        </table></div>`
        }
        ${older}
      </section>`,
    { current: '/app/documents', role },
  )
}

/** A document of one of one's teams. */
export function documentPage(
  { id, title, body, updatedAt }: ShownDocument,
  role: string | null,
): string {
  return layout(
    title,
    html`<header class="head">
        <p class="quiet"><a href="/app/documents">Documents</a></p>
        <h1 class="wrap">${title}</h1>
        <p class="quiet">Document ${id}, last changed ${timeText(updatedAt)}</p>
      </header>
      <section class="card text">${body}</section>`,
    { current: '/app/documents', role },
  )
}
