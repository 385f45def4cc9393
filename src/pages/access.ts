import type { AccessRow } from '#src/access/overview.ts'
import { roles } from '#src/access/roles.ts'
import { type Html, html } from './html.ts'
import type { Viewer } from './layout.ts'
import { layout } from './layout.ts'

/**
 * Who may do what, as the policy has it.
 * @param viewer whose role is marked
 */
export function accessPage(rows: readonly AccessRow[], viewer: Viewer): string {
  const ownRole = viewer.role
  const mark = (role: string) => (role === ownRole ? html` class="own"` : html``)
  const heads = roles.map(
    (role) =>
      html`<th scope="col"${mark(role)}>${role}${role === ownRole ? html` (you)` : html``}</th>`,
  )
  const lines = rows.map(
    (row) => html`<tr>
            <th scope="row">${row.resource}: ${row.action}<br><span class="quiet">${which(row)}</span></th>
            ${roles.map((role) => html`<td${mark(role)}>${row.roles.includes(role) ? 'yes' : '–'}</td>`)}
          </tr>`,
  )
  return layout(
    'Who may do what',
    html`<header class="head">
        <h1>Who may do what</h1>
        <p class="quiet">What is not in this table is refused.</p>
      </header>
      <section class="card matrix" tabindex="0" aria-label="Actions and roles">
        <table>
          <thead><tr><th scope="col">What</th>${heads}</tr></thead>
          <tbody>${lines}</tbody>
        </table>
      </section>`,
    { current: '/app/access', ...viewer },
  )
}

function which({ scope, conditions }: AccessRow): Html {
  if (conditions.length === 0) return html`${scope}`
  return html`${scope}; ${conditions.join('; ')}`
}
