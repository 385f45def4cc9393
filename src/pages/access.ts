import type { AccessRow } from '#src/access/overview.ts'
import { roles } from '#src/access/roles.ts'
import { type Html, html } from './html.ts'
import type { Viewer } from './layout.ts'
import { layout } from './layout.ts'

/**
 * The permissions page: every rule of the policy by role. An operator has a column too.
 * @param viewer their role is highlighted
 */
export function accessPage(rows: readonly AccessRow[], viewer: Viewer): string {
  const columns = viewer.operator ? [...roles, operator] : roles
  const isOwn = (column: string) => column === viewer.role || column === operator
  const mark = (column: string) => (isOwn(column) ? html` class="own"` : html``)
  const heads = columns.map(
    (column) =>
      html`<th scope="col"${mark(column)}>${column}${isOwn(column) ? html` (you)` : html``}</th>`,
  )
  const lines = rows.map(
    (row) => html`<tr>
            <th scope="row">${row.resource}: ${row.action}<br><span class="quiet">${scopeText(row)}</span></th>
            ${columns.map((column) => html`<td${mark(column)}>${cellText(row, column)}</td>`)}
          </tr>`,
  )
  return layout(
    'Permissions',
    html`<header class="head">
        <h1>Permissions</h1>
        <p class="quiet">Anything not listed here is denied.</p>
      </header>
      <section class="card matrix" tabindex="0" aria-label="Permissions by role">
        <table>
          <thead><tr><th scope="col">Action</th>${heads}</tr></thead>
          <tbody>${lines}</tbody>
        </table>
      </section>`,
    { current: '/app/access', ...viewer },
  )
}

const operator = 'operator'

/** The operator's column has only what operators may do in addition to their role. */
function cellText(row: AccessRow, column: string): string {
  if (column === operator) return row.forOperators ? 'yes' : ''
  return row.roles.includes(column) ? 'yes' : '–'
}

function scopeText({ scope, conditions }: AccessRow): Html {
  if (conditions.length === 0) return html`${scope}`
  return html`${scope}; ${conditions.join('; ')}`
}
