import type { AccessRow } from '#src/access/overview.ts'
import { roles } from '#src/access/roles.ts'
import { pageHead } from '#src/pages/kit/components.ts'
import { type Html, html } from '#src/pages/kit/html.ts'
import type { Page, Viewer } from '#src/pages/kit/layout.ts'
import { layout } from '#src/pages/kit/layout.ts'

/**
 * The permissions page: every rule of the policy by role, grouped by resource. An operator has a
 * column too.
 * @param viewer their role is highlighted
 */
export function accessPage(rows: readonly AccessRow[], viewer: Viewer): Page {
  const columns = viewer.operator ? [...roles, operator] : roles
  const isOwn = (column: string) => column === viewer.role || column === operator
  const may = (row: AccessRow) => reasonFor(row, viewer)
  const mark = (column: string) => (isOwn(column) ? html` class="role own"` : html` class="role"`)
  const heads = columns.map(
    (column) =>
      html`<th scope="col"${mark(column)}>${column}${isOwn(column) ? html` (you)` : html``}</th>`,
  )
  const byResource = [...Map.groupBy(rows, ({ resource }) => resource)]
  const groups = byResource.map(
    ([resource, rules]) => html`<tbody id="on-${resource}">
            <tr class="group"><th scope="rowgroup" colspan="${columns.length + 2}">${nameOf(resource)}</th></tr>
            ${rules.map(
              (
                row,
              ) => html`<tr><th scope="row">${row.action} <span class="quiet">${scopeText(row)}</span></th><td class="own">${decisionText(may(row))}</td>${columns.map((column) => html`<td${isOwn(column) ? mark(column) : ''}>${cellText(row, column)}</td>`)}</tr>
            `,
            )}
          </tbody>`,
  )
  return layout(
    'Permissions',
    html`${pageHead({ title: 'Permissions', lead: 'Anything not listed here is denied.' })}
      <section class="card" aria-labelledby="own">
        <h2 id="own">What you may do</h2>
        ${summary(rows, viewer)}
      </section>
      <nav class="card topics" aria-label="Permissions by resource">${byResource.map(([resource]) => html`<a href="#on-${resource}">${nameOf(resource)}</a>`)}</nav>
      <section class="card matrix" tabindex="0" aria-label="Permissions by role">
        <table>
          <thead><tr><th scope="col">Action</th><th scope="col" class="own">You</th>${heads}</tr></thead>
          ${groups}
        </table>
      </section>`,
    { current: '/app/access', ...viewer },
  )
}

const operator = 'operator'

type Decision = { allowed: boolean; reason: string }

/** A character and not an icon: the page has hundreds. */
const yes = html`<b class="allowed" role="img" aria-label="yes">✓</b>`

/** Whether the viewer may do it to some object, and why. */
function reasonFor(row: AccessRow, { role, operator }: Viewer): Decision {
  if (row.forApp === 'only') return { allowed: false, reason: 'the app only' }
  if (row.forOperators)
    return { allowed: operator, reason: operator ? 'operator' : 'operators only' }
  if (role !== null && row.roles.includes(role)) {
    const isOwn = row.scope === 'own' || row.scope === 'own account'
    return { allowed: true, reason: isOwn ? 'your own' : `as ${role}` }
  }
  if (row.scope === 'own' || row.scope === 'own account')
    return { allowed: true, reason: 'your own' }
  if (role === null) return { allowed: false, reason: 'you have no role' }
  return { allowed: false, reason: `needs ${row.roles.join(' or ')}` }
}

function decisionText({ allowed, reason }: Decision): Html {
  const answer = allowed
    ? yes
    : html`<span aria-hidden="true">–</span><span class="unseen">no,</span>`
  return html`${answer} <span class="quiet">${reason}</span>`
}

/** The actions that the viewer's role allows, one line for each resource. */
function summary(rows: readonly AccessRow[], viewer: Viewer): Html {
  const own = rows.filter((row) => reasonFor(row, viewer).allowed)
  const lines = [...Map.groupBy(own, ({ resource }) => resource)].map(
    ([resource, rules]) =>
      html`<div><dt>${nameOf(resource)}</dt><dd>${rules.map(({ action }) => action).join(', ')}</dd></div>`,
  )
  return html`<dl class="facts glance">${lines}</dl>`
}

/** `webhook-endpoint` as `Webhook endpoint`. */
function nameOf(resource: string): string {
  const words = resource.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The operator's column has only what operators may do in addition to their role. */
function cellText(row: AccessRow, column: string): Html {
  const allowed = column === operator ? row.forOperators : row.roles.includes(column)
  if (allowed) return yes
  return column === operator ? html`` : html`–`
}

function scopeText({ scope, conditions, credential }: AccessRow): Html {
  const parts = [scope, ...conditions, ...(credential === 'session or token' ? [] : [credential])]
  return html`${parts.join('; ')}`
}
