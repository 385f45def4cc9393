import { type Html, html } from '#src/pages/html.ts'
import { table } from '#src/pages/table.ts'

export type ShownMembership = { id: string; name: string; role: string; active: boolean }

const columns = [
  { label: 'Tenant', kind: 'wrap' },
  { label: 'Role' },
  { label: 'Go there', kind: 'actions' },
] as const

/** The tenants somebody belongs to, and how to go from one to another; nothing for a single one. */
export function tenantSection(memberships: readonly ShownMembership[]): Html {
  if (memberships.length < 2) return html``
  const rows = memberships.map(({ id, name, role, active }) => [
    name,
    role,
    active ? html`<span class="badge">You are here</span>` : switchButton(id, name),
  ])
  return html`<section class="card" aria-labelledby="tenants">
        <h2 id="tenants">Your tenants</h2>
        ${table(columns, rows)}
      </section>`
}

function switchButton(id: string, name: string): Html {
  return html`<form method="post" action="/session/tenant">
              <input type="hidden" name="tenantId" value="${id}">
              <button class="button plain slim" aria-label="Go to ${name}">Go there</button>
            </form>`
}
