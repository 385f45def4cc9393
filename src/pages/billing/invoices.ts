import type { Count } from '#src/http/lists/pagination.ts'
import { badge, pageHead } from '#src/pages/kit/components.ts'
import { filtersOf, isFiltered, type ListQuery, type Used } from '#src/pages/kit/filters.ts'
import { type Html, html, timeText } from '#src/pages/kit/html.ts'
import { layout, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { countText, listTable, type ShownList } from '#src/pages/kit/list.ts'
import { amountText } from '#src/runtime/amount.ts'

type ShownInvoice = {
  id: number
  amount: number
  currency: string
  digits: number
  status: string
  amountRefunded: number
  createdAt: string
}

const columns = [
  { label: 'Invoice' },
  { label: 'Amount', kind: 'number' },
  { label: 'Status' },
  { label: 'Created' },
] as const

export type InvoiceListView = {
  readonly viewer: Viewer
  readonly invoices: readonly ShownInvoice[]
  readonly cursors: Pick<ShownList, 'nextCursor' | 'previousCursor'>
  readonly count: Count | undefined
  readonly query: ListQuery
  readonly used: Used
}

/** The invoices of the tenant, newest first unless the other order is asked for. */
export function invoiceListPage(view: InvoiceListView): Page {
  const { viewer, invoices, cursors, count, query, used } = view
  const path = '/app/invoices'
  const lead = ['Created from the charges of the billing provider.', countText(count) ?? '']
  const empty = isFiltered(used)
    ? html`<p>No such invoices. <a href="${path}">Show all invoices</a></p>`
    : html`<p>No invoices yet. The first successful charge creates one.</p>`
  const rows = invoices.map(({ id, amount, currency, digits, status, createdAt }) => [
    html`<a href="/app/invoices/${id}">Invoice ${id}</a>`,
    amountText(amount, currency, digits),
    statusBadge(status),
    timeText(createdAt),
  ])
  return layout(
    'Invoices',
    html`${pageHead({ title: 'Invoices', lead: lead.join(' ').trim() })}
      <section class="card" aria-label="Invoices">
        ${filtersOf({ path, query, used })}
        ${listTable(columns, rows, { path, filter: used, ...cursors }, empty)}
      </section>`,
    { current: path, ...viewer },
  )
}

const notes: Readonly<Record<string, string>> = {
  disputed:
    'The cardholder disputes this payment. The billing provider decides, and the status follows its decision.',
  lost: 'The cardholder disputed this payment and has the money back. The dispute is over.',
}

function statusBadge(status: string): Html {
  return badge(status, status === 'paid' ? 'good' : 'plainly')
}

/** One invoice of the tenant. */
export function invoicePage(viewer: Viewer, invoice: ShownInvoice): Page {
  const { id, amount, currency, digits, status, amountRefunded, createdAt } = invoice
  return layout(
    `Invoice ${id}`,
    html`${pageHead({ trail: { href: '/app/invoices', label: 'Invoices' }, title: html`Invoice ${id}`, lead: html`Created ${timeText(createdAt)}` })}
      <section class="card" aria-label="Details">
        <dl class="facts">
          <div><dt>Amount</dt><dd><b>${amountText(amount, currency, digits)}</b></dd></div>
          <div><dt>Status</dt><dd>${statusBadge(status)}</dd></div>
          <div><dt>Refunded</dt><dd>${amountRefunded === 0 ? html`<span class="quiet">Nothing</span>` : amountText(amountRefunded, currency, digits)}</dd></div>
        </dl>
        ${notes[status] === undefined ? '' : html`<p class="notice">${notes[status]}</p>`}
      </section>`,
    { current: '/app/invoices', ...viewer },
  )
}
