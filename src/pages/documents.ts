import { isolatedText } from '#src/runtime/text.ts'
import { html, isolated, table, timeText } from './html.ts'
import type { Viewer } from './layout.ts'
import { layout } from './layout.ts'

export type ShownDocument = { id: number; title: string; body: string; updatedAt: string }

const columns = [{ label: 'Title', kind: 'wrap' }, { label: 'Last updated' }] as const

/** Documents of the viewer's teams, newest first. @param nextCursor null on the last page */
export function documentListPage(
  documents: readonly ShownDocument[],
  nextCursor: string | null,
  viewer: Viewer,
): string {
  const rows = documents.map(({ id, title, updatedAt }) => [
    html`<a href="/app/documents/${id}">${isolated(title)}</a>`,
    timeText(updatedAt),
  ])
  const older =
    nextCursor === null
      ? ''
      : html`<p class="row"><a href="/app/documents?cursor=${encodeURIComponent(nextCursor)}">Older documents</a></p>`
  return layout(
    'Documents',
    html`<header class="head">
        <h1>Documents</h1>
        <p class="quiet">Documents in your teams’ folders, newest first.</p>
      </header>
      <section class="card">
        ${
          rows.length === 0
            ? html`<p class="quiet">No documents yet. You see documents in the folders of your teams; a manager or admin can add you to a team.</p>`
            : table(columns, rows)
        }
        ${older}
      </section>`,
    { current: '/app/documents', ...viewer },
  )
}

/** One document. */
export function documentPage(
  { id, title, body, updatedAt }: ShownDocument,
  viewer: Viewer,
): string {
  return layout(
    isolatedText(title),
    html`<header class="head">
        <p class="trail"><a href="/app/documents">Documents</a></p>
        <h1 class="wrap">${isolated(title)}</h1>
        <p class="quiet">Document ${id}, last updated ${timeText(updatedAt)}</p>
      </header>
      <section class="card text">${body}</section>`,
    { current: '/app/documents', ...viewer },
  )
}
