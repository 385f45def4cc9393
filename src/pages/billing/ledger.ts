import type { LedgerDay, LedgerState, OwnLedgerState } from '#src/ledger/last-check.ts'
import { type Cell, type Html, html, table, timeText } from '#src/pages/kit/html.ts'
import { icon } from '#src/pages/kit/icon.ts'

const compared =
  'For three months, each of them is compared with the ledger at least every four weeks.'

/** The outcome of the last check of the ledger, over all events and deliveries. */
export function ledgerText(ledger: LedgerState | null): Html {
  if (ledger === null) return html`<p class="quiet small">The ledger has not been checked yet.</p>`
  const { unaccounted, partial, checkedAt, kinds } = ledger
  const found = Object.entries(kinds).map(([kind, count]) => `${count} ${kind}`)
  return unaccounted === 0
    ? html`<p class="quiet small">unaccounted: 0, of all events and deliveries. ${compared} Checked ${timeText(checkedAt)} <a href="#ledger">By day</a></p>`
    : html`<p class="fault">unaccounted: ${atLeast(partial)}${unaccounted} (${found.join(', ')}). Checked ${timeText(checkedAt)} <a href="#ledger">By day and tenant</a>. Run <code>gatehouse ledger verify</code>.</p>`
}

function atLeast(partial: boolean): string {
  return partial ? 'at least ' : ''
}

const dayColumns = [
  { label: 'Day (UTC)' },
  { label: 'Received', kind: 'number' },
  { label: 'Published', kind: 'number' },
  { label: 'Deliveries', kind: 'number' },
  { label: 'Unaccounted', kind: 'number' },
] as const
const tenantColumns = [
  { label: 'Tenant', kind: 'wrap' },
  { label: 'Unaccounted', kind: 'number' },
  { label: 'Days (UTC)', kind: 'wrap' },
] as const

/** What was counted in the last days, and what of it is not accounted for, by day and by tenant. */
export function ledgerSection(ledger: LedgerState | null): Html {
  if (ledger === null) return html``
  const { days, tenants, unaccounted, partial } = ledger
  const recent = days.flatMap(({ unaccounted }) => unaccounted ?? [])
  const earlier = recent.length === days.length ? unaccounted - sumOf(recent) : 0
  return html`<section class="card" aria-labelledby="ledger">
        <h2 id="ledger">Ledger <span class="quiet">unaccounted: ${atLeast(partial)}${unaccounted}</span></h2>
        <div class="lead">${table(dayColumns, days.map(dayRow))}</div>
        ${earlier > 0 ? html`<p class="fault">unaccounted on earlier days: ${earlier}</p>` : ''}
        ${tenants.length === 0 ? '' : html`<div class="lead">${table(tenantColumns, tenants.map(tenantRow))}</div>`}
        <p class="quiet small">Billing events received, events published and their deliveries, as counted ten minutes after they were stored. Other tenants have no finding. A finding about a billing event or about the ledger itself belongs to no tenant.</p>
      </section>`
}

function dayRow({ day, counted, unaccounted }: LedgerDay): Cell[] {
  return [
    html`<span class="whole">${day}</span>`,
    countText(counted?.received),
    countText(counted?.published),
    countText(counted?.deliveries),
    findingsText(unaccounted),
  ]
}

function tenantRow({ tenantId, days }: LedgerState['tenants'][number]): Cell[] {
  return [html`<code>${tenantId}</code>`, findingsText(sumOf(Object.values(days))), daysText(days)]
}

function countText(count: number | undefined): string {
  return count?.toLocaleString('en-GB') ?? '–'
}

function findingsText(findings: number | null): Html {
  if (findings === null) return html`–`
  return findings === 0 ? html`0` : html`<strong class="fault">${findings}</strong>`
}

/** Each day with its number of findings, newest first. */
function daysText(days: Readonly<Record<string, number>>): string {
  return Object.entries(days)
    .toSorted(([one], [other]) => (one < other ? 1 : -1))
    .map(([day, findings]) => `${day}: ${findings}`)
    .join(', ')
}

/**
 * Whether all of the tenant's own events and deliveries are accounted for, and how that is known.
 * @param found deliveries that are not accounted for at this moment
 */
export function ownLedgerText(own: OwnLedgerState | null, found = 0): Html {
  if (own === null || own.days === null) return html``
  const { days, partial, checkedAt } = own
  const findings = sumOf(Object.values(days))
  if (found > findings) return html`<p class="fault">Deliveries not accounted for: ${found}.</p>`
  const how = html`Checked ${timeText(checkedAt)} <a href="/docs/guide#accounted">How this is checked</a>`
  return findings === 0 && !partial
    ? html`<p class="accounted">${icon('check')}<b>All deliveries accounted for</b> <span class="quiet">${how}</span></p>`
    : html`<p class="fault">Deliveries not accounted for: ${atLeast(partial)}${findings}${findings === 0 ? '' : ` (${daysText(days)})`}. Contact support. ${how}</p>`
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}
