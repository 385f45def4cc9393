import type { LedgerState, OwnLedgerState } from '#src/ledger/last-check.ts'
import { type Cell, type Html, html, table, timeText } from '#src/pages/kit/html.ts'
import { icon } from '#src/pages/kit/icon.ts'

/** The outcome of the last check of the ledger, over all events and deliveries. */
export function ledgerText(ledger: LedgerState | null): Html {
  if (ledger === null)
    return html`<p class="quiet small">Whether everything is accounted for has not been checked yet.</p>`
  const { unaccounted, partial, checkedAt, kinds } = ledger
  const found = Object.entries(kinds).map(([kind, count]) => `${count} ${kind}`)
  return unaccounted === 0
    ? html`<p class="quiet small">unaccounted: 0, of all events and deliveries. Checked ${timeText(checkedAt)}</p>`
    : html`<p class="fault">unaccounted: ${atLeast(partial)}${unaccounted} (${found.join(', ')}). Checked ${timeText(checkedAt)} Run <code>gatehouse ledger verify</code>.</p>`
}

function atLeast(partial: boolean): string {
  return partial ? 'at least ' : ''
}

const tenantColumns = [
  { label: 'Tenant', kind: 'wrap' },
  { label: 'Unaccounted', kind: 'number' },
] as const

/** The tenants whose events and deliveries are not all accounted for; nothing if there are none. */
export function ledgerSection(ledger: LedgerState | null): Html {
  if (ledger === null || ledger.tenants.length === 0) return html``
  const rows = ledger.tenants.map(({ tenantId, findings }): Cell[] => [
    html`<code>${tenantId}</code>`,
    html`<strong class="fault">${findings}</strong>`,
  ])
  return html`<section class="card" aria-labelledby="unaccounted">
        <h2 id="unaccounted">Not accounted for</h2>
        <div class="lead">${table(tenantColumns, rows)}</div>
        <p class="quiet small">A finding about a received billing event belongs to no tenant.</p>
      </section>`
}

/**
 * Whether all of the tenant's own events and deliveries are accounted for, and how that is known.
 * @param found deliveries that are not accounted for at this moment
 */
export function ownLedgerText(own: OwnLedgerState | null, found = 0): Html {
  if (own === null) return html``
  const { findings, partial, checkedAt } = own
  if (found > findings) return html`<p class="fault">Deliveries not accounted for: ${found}.</p>`
  const how = html`Checked ${timeText(checkedAt)} <a href="/docs/guide#accounted">How this is checked</a>`
  return findings === 0 && !partial
    ? html`<p class="accounted">${icon('check')}<b>All deliveries accounted for</b> <span class="quiet">${how}</span></p>`
    : html`<p class="fault">Deliveries not accounted for: ${atLeast(partial)}${findings}. Contact support. ${how}</p>`
}
