import { permissionsOf } from '#src/access/roles.ts'
import { Line, Text } from '#src/http/schemas.ts'
import { pageHead, toast } from '#src/pages/kit/components.ts'
import { area, folded, formOf, line, renderForm, version } from '#src/pages/kit/form.ts'
import { type Html, html, isolated, timeText } from '#src/pages/kit/html.ts'
import { layout, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { listTable, type ShownList } from '#src/pages/kit/list.ts'
import { isolatedText } from '#src/runtime/text.ts'

const documentFields = { title: Line(200), body: Text(50_000) }

export type ShownDocument = { id: number; title: string; body: string; updatedAt: string }

export const documentForm = formOf({
  version,
  title: line(documentFields.title, 'Title'),
  body: area(documentFields.body, 'Text', { attributes: { rows: 10 } }),
})

const columns = [{ label: 'Title', kind: 'wrap' }, { label: 'Last updated' }] as const

/** Documents of the viewer's teams, newest first. */
export function documentListPage(
  documents: readonly ShownDocument[],
  cursors: Pick<ShownList, 'nextCursor' | 'previousCursor'>,
  viewer: Viewer,
): Page {
  const rows = documents.map(({ id, title, updatedAt }) => [
    html`<a href="/app/documents/${id}">${isolated(title)}</a>`,
    timeText(updatedAt),
  ])
  return layout(
    'Documents',
    html`${pageHead({ title: 'Documents', lead: 'Documents in your teams’ folders, newest first.' })}
      <section class="card">
        ${listTable(columns, rows, { path: '/app/documents', ...cursors }, html`<p>No documents yet. You see documents in the folders of your teams; a manager or admin can add you to a team.</p>`)}
      </section>`,
    { current: '/app/documents', ...viewer },
  )
}

export type DocumentView = {
  viewer: Viewer
  document: ShownDocument
  /** True right after it was saved. */
  changed: boolean
}

/** One document, with a form to edit it for those who may. */
export function documentPage({ viewer, document, changed }: DocumentView): Page {
  const { id, title, body, updatedAt } = document
  return layout(
    isolatedText(title),
    html`${pageHead({ trail: { href: '/app/documents', label: 'Documents' }, title: isolated(title), lead: html`Document ${id}, last updated ${timeText(updatedAt)}` })}
      ${changed ? toast('Saved.') : ''}
      <section class="card text" aria-label="Text">${body}</section>
      ${permissionsOf(viewer.role).includes('post:write') ? editSection(document, viewer) : ''}`,
    { current: '/app/documents', ...viewer },
  )
}

function editSection({ id, title, body, updatedAt }: ShownDocument, viewer: Viewer): Html {
  const values = { title, body, version: updatedAt }
  const form = renderForm(
    documentForm,
    { viewer, action: `/app/documents/${id}`, values },
    (inputs) => html`${inputs.title}${inputs.body}<button class="button">Save changes</button>`,
  )
  return html`<section class="card" aria-label="Edit">${folded('Edit document', form)}</section>`
}
