import type { AccessRow } from '#src/access/overview.ts'
import { roles } from '#src/access/roles.ts'
import { type Html, html } from './html.ts'
import type { Viewer } from './layout.ts'
import { layout } from './layout.ts'

/**
 * The permissions page: every rule of the policy by role.
 * @param viewer their role is highlighted
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
            <th scope="row">${row.resource}: ${row.action}<br><span class="quiet">${scopeText(row)}</span></th>
            ${roles.map((role) => html`<td${mark(role)}>${row.roles.includes(role) ? 'yes' : '–'}</td>`)}
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

function scopeText({ scope, conditions }: AccessRow): Html {
  if (conditions.length === 0) return html`${scope}`
  return html`${scope}; ${conditions.join('; ')}`
}
