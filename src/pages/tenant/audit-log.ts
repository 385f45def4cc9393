import { type AuditView, activityLooks, auditColumns, auditRow } from '#src/pages/account/audit.ts'
import { type FilterLooks, filtersOf, isFiltered } from '#src/pages/kit/filters.ts'
import { html } from '#src/pages/kit/html.ts'
import { layout, type Page } from '#src/pages/kit/layout.ts'
import { countText, listTable } from '#src/pages/kit/list.ts'

type AuditLogView = AuditView & { nameOf: (userId: number) => string }

/** The audit log of the tenant, with filters and downloads. */
export function auditPage(view: AuditLogView): Page {
  const { viewer, entries, cursors, count, query, used, targets, nameOf } = view
  const { sort: _, ...filter } = used
  const download = (format: string) =>
    `/app/audit/export?${new URLSearchParams({ ...filter, format }).toString()}`
  const path = '/app/audit'
  const empty = isFiltered(used)
    ? html`<p>No matching entries. <a href="${path}">Show all entries</a></p>`
    : html`<p>No activity yet.</p>`
  const rows = entries.map((entry) => auditRow(entry, targets, nameOf))
  return layout(
    'Audit log',
    html`<header class="headed">
        <div class="head">
          <h1>Audit log</h1>
          <p class="quiet">Who did what in this tenant, and what was refused. ${countText(count) ?? ''}</p>
        </div>
        <div class="row">
          <a class="button plain slim" href="${download('csv')}" download>Download CSV</a>
          <a class="button plain slim" href="${download('jsonl')}" download>Download JSON Lines</a>
        </div>
      </header>
      <section class="card" aria-label="Entries">
        ${filtersOf({ path, query, used, looks: looks() })}
        <div class="compact">${listTable(auditColumns(true), rows, { path, filter: used, ...cursors }, empty)}</div>
      </section>`,
    { current: '/app/audit', ...viewer },
  )
}

function looks(): FilterLooks {
  const ofUser = {
    ...{ inputmode: 'numeric', pattern: '[1-9][0-9]*', maxlength: 16 },
    title: 'Or select the name of a person in the list',
  }
  return {
    ...activityLooks(),
    outcome: { label: 'Outcome', all: 'All outcomes' },
    user: { label: 'User ID', attributes: ofUser },
  }
}

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
