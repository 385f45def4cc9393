import type { AuditTargets } from '#src/audit/targets.ts'
import {
  actionNames,
  auditColumns,
  auditRow,
  ownActionNames,
  type ShownEntry,
} from '#src/pages/account/audit.ts'
import { filterBar } from '#src/pages/kit/components.ts'
import { type Html, html } from '#src/pages/kit/html.ts'
import { layout, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { choices, listTable, type ShownList } from '#src/pages/kit/list.ts'

/** The filters of the page, as its form sends them; an empty field is no filter. */
export type AuditFilters = { action: string; outcome: string; since: string; user: string }

export type AuditView = {
  viewer: Viewer
  entries: readonly ShownEntry[]
  cursors: Pick<ShownList, 'nextCursor' | 'previousCursor'>
  filter: AuditFilters
  targets: AuditTargets
  nameOf: (userId: number) => string
}

const sinceChoices = [
  { value: 'hour', label: 'Last hour' },
  { value: 'day', label: 'Last day' },
  { value: 'week', label: 'Last week' },
  { value: 'month', label: 'Last 30 days' },
]

/** The audit log of the tenant, with filters and downloads. */
export function auditPage(view: AuditView): Page {
  const { viewer, entries, cursors, filter, targets, nameOf } = view
  const given = Object.entries(filter).filter(([, value]) => value !== '')
  const query = new URLSearchParams(given)
  const download = (format: string) =>
    `/app/audit/export?${new URLSearchParams([...query, ['format', format]]).toString()}`
  const rows = entries.map((entry) => auditRow(entry, targets, nameOf))
  return layout(
    'Audit log',
    html`<header class="headed">
        <div class="head">
          <h1>Audit log</h1>
          <p class="quiet">Who did what in this tenant, and what was refused.</p>
        </div>
        <div class="row">
          <a class="button plain slim" href="${download('csv')}" download>Download CSV</a>
          <a class="button plain slim" href="${download('jsonl')}" download>Download JSON Lines</a>
        </div>
      </header>
      <section class="card" aria-label="Entries">
        ${filterBar('/app/audit', filterFields(filter), given.length > 0)}
        <div class="compact">${listTable(auditColumns(true), rows, { path: '/app/audit', filter, ...cursors }, given.length === 0 ? html`<p>No activity yet.</p>` : html`<p>No matching entries. <a href="/app/audit">Show all entries</a></p>`)}</div>
      </section>`,
    { current: '/app/audit', ...viewer },
  )
}

function filterFields({ action, outcome, since, user }: AuditFilters): Html {
  const actions = [...ownActionNames, ...Object.entries(actionNames)].map(([value, label]) => ({
    ...{ value, label },
  }))
  return html`${choices('action', 'Action', 'All actions', actions, action)}
          ${choices('outcome', 'Outcome', 'All outcomes', [...outcomeChoices], outcome)}
          ${choices('since', 'Time', 'Any time', sinceChoices, since)}
          <input name="user" value="${user}" inputmode="numeric" pattern="[1-9][0-9]*" maxlength="16" placeholder="User ID" title="Or select the name of a person in the list" aria-label="User ID" data-search>`
}

const outcomeChoices = [
  { value: 'done', label: 'Done' },
  { value: 'refused', label: 'Refused' },
  { value: 'unavailable', label: 'Unavailable' },
  { value: 'failed', label: 'Failed' },
] as const

const fields = [
  'at',
  'action',
  'outcome',
  'reason',
  'userId',
  'provider',
  'target',
  'ip',
  'userAgent',
  'serviceId',
  'serviceName',
  'portalSessionId',
] as const

type Exported = Readonly<Record<(typeof fields)[number], string | number | null>>

/** The first line of the CSV download. */
export const csvHead = `${fields.join(',')}\r\n`

/** An entry as a line of CSV (RFC 4180). A spreadsheet takes no cell for a formula. */
export function csvLine(entry: Exported): string {
  return `${fields.map((field) => csvCell(entry[field])).join(',')}\r\n`
}

function csvCell(value: string | number | null): string {
  if (value === null) return ''
  const text = String(value)
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** An entry as a line of JSON. */
export function jsonLine(entry: Exported): string {
  return `${JSON.stringify(Object.fromEntries(fields.map((field) => [field, entry[field]])))}\n`
}
