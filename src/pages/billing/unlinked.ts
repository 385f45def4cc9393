import type { DoublePayer } from '#src/billing/customers.ts'
import { mostCounted } from '#src/billing/events.ts'
import { mostRead, type WaitingCustomer, type WaitingEvent } from '#src/billing/waiting.ts'
import { Line } from '#src/http/schemas.ts'
import { badge, emptyState, pageHead } from '#src/pages/kit/components.ts'
import { folded, formOf, hidden, line, renderForm, submission } from '#src/pages/kit/form.ts'
import { type Cell, type Html, html, isolated, table, timeText } from '#src/pages/kit/html.ts'
import { layout, noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { pageLinks } from '#src/pages/kit/list.ts'
import { amountText } from '#src/runtime/amount.ts'
import { holderCell } from './customers.ts'

export const unlinkedPath = '/app/billing/unlinked'

export type UnlinkedView = {
  viewer: Viewer
  customers: readonly WaitingCustomer[]
  /** The only customer to show, and whether somebody has it; null for all. */
  chosen: { customer: string; isLinked: boolean } | null
  /** Customers with several subscriptions. */
  doublePayers: readonly DoublePayer[]
  nextCursor: string | null
  /** Key of the notice to show, from `?done=`. */
  done: string | undefined
}

const notices = {
  linked: 'Linked. The waiting events of this customer are being processed.',
  dismissed: 'Dismissed. These events are not processed when the customer is linked.',
} as const

export type UnlinkedNotice = keyof typeof notices

const customer = hidden(Line(255))

export const linkWaitingForm = formOf({
  customer,
  user: line(Line(320), 'User or tenant', {
    attributes: { placeholder: 'Id, or a user’s verified email' },
  }),
})

export const dismissWaitingForm = formOf({
  submission,
  customer,
  reason: line(Line(500), 'Reason', {
    attributes: { placeholder: 'Why they need not be processed' },
  }),
})

/** The page of one customer. */
export function unlinkedHref(customer: string): string {
  return `${unlinkedPath}?${new URLSearchParams({ customer })}`
}

/** Billing customers that are not linked, and what waits for each, for operators. */
export function unlinkedPage(view: UnlinkedView): Page {
  const { viewer, customers, chosen, doublePayers, nextCursor, done } = view
  const cards = customers.map((one, index) => customerCard(one, index, chosen, viewer))
  return layout(
    'Unlinked customers',
    html`${pageHead({
      trail: { href: '/app/billing', label: 'Billing events' },
      title: 'Unlinked customers',
      lead: html`Their events wait until the customer is linked to a user or a tenant, and are processed then. Only operators see this page. <a href="/app/billing/customers">Linked customers</a>`,
    })}
      ${noticeText(notices, done)}
      ${doublePayers.length === 0 ? '' : doublePayersCard(doublePayers)}
      ${cards.length > 0 ? cards : html`<section class="card" aria-label="Unlinked customers">${emptyState('No event waits for a customer.')}</section>`}
      ${pageLinks({ path: unlinkedPath, nextCursor })}
      ${chosen === null ? '' : html`<p class="row"><a href="${unlinkedPath}">All unlinked customers</a></p>`}
      <p class="quiet small"><a href="/app/billing?status=dismissed">Dismissed events</a> have their reason, and can be replayed one by one.</p>`,
    { current: '/app/billing', ...viewer },
  )
}

function doublePayersCard(payers: readonly DoublePayer[]): Html {
  return html`<section class="card" aria-labelledby="twice">
        <h2 id="twice">Customers with several subscriptions</h2>
        <p class="fault">Each of these pays for more than one plan. Cancel the extra subscriptions at the billing provider.</p>
        <div class="lead">${table(doublePayerColumns, payers.map(doublePayerRow))}</div>
      </section>`
}

const doublePayerColumns = [
  { label: 'Customer', kind: 'wrap' },
  { label: 'User or tenant', kind: 'wrap' },
  { label: 'Subscriptions', kind: 'wrap' },
] as const

function doublePayerRow({ customer, subscriptions, ...holder }: DoublePayer): Cell[] {
  return [isolated(customer), holderCell(holder), isolated(subscriptions.join(', '))]
}

/** The worker writes a reason without a capital letter. */
function sentence(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`
}

function customerCard(
  waiting: WaitingCustomer,
  index: number,
  chosen: UnlinkedView['chosen'],
  viewer: Viewer,
): Html {
  const { customer, events, since, dismissed, reason, first } = waiting
  const id = `customer-${index}`
  const isLinked = chosen?.isLinked === true
  return html`<section class="card" aria-labelledby="${id}">
        <h2 id="${id}" class="wrap">${isolated(customer)} ${isLinked ? badge('linked', 'good') : ''}</h2>
        ${reason === null ? '' : html`<p class="fault wrap">${sentence(reason)}</p>`}
        <dl class="facts">
          <div><dt>Waiting events</dt><dd>${countText(events)}</dd></div>
          <div><dt>Waiting since</dt><dd>${since === null ? '–' : timeText(since)}</dd></div>
          <div><dt>Payments</dt><dd>${paymentsText(waiting)}</dd></div>
          <div><dt>Plan</dt><dd>${waiting.plans.length === 0 ? '–' : waiting.plans.join(', ')}</dd></div>
          ${dismissed === 0 ? '' : html`<div><dt>Dismissed events</dt><dd>${countText(dismissed)}</dd></div>`}
        </dl>
        ${events > first.length && first.length > 0 ? html`<p class="quiet small">Payments and plan are those of the oldest ${mostRead} events.</p>` : ''}
        ${isLinked ? html`<p>This customer is linked. <a href="/app/billing/customers">View linked customers</a></p>` : linkForm(customer, viewer)}
        ${events === 0 ? '' : dismissal(customer, viewer)}
        ${first.length === 0 ? '' : eventList(first, chosen !== null)}
      </section>`
}

function linkForm(customer: string, viewer: Viewer): Html {
  return renderForm(
    linkWaitingForm,
    { viewer, action: unlinkedPath, inline: true, values: { customer } },
    ({ user }) =>
      html`<label>User or tenant ${user}</label><button class="button">Link customer</button>`,
  )
}

function dismissal(customer: string, viewer: Viewer): Html {
  const form = renderForm(
    dismissWaitingForm,
    { viewer, action: `${unlinkedPath}/dismiss`, inline: true, values: { customer } },
    ({ reason }) =>
      html`<label>Reason ${reason}</label><button class="button plain">Dismiss events</button>`,
  )
  return folded('Dismiss its events', form)
}

function eventList(events: readonly WaitingEvent[], isOpen: boolean): Html {
  return html`<details${isOpen ? html` open` : ''}><summary>Oldest events</summary>
          <div class="compact">${table(columns, events.map(eventRow))}</div></details>`
}

const columns = [
  { label: 'Event' },
  { label: 'Type' },
  { label: 'Received' },
  { label: 'Amount', kind: 'number' },
  { label: 'Plan' },
] as const

function eventRow({ id, type, receivedAt, payment, subscription }: WaitingEvent): Cell[] {
  return [
    html`<a class="clip" href="/app/billing/${encodeURIComponent(id)}" title="${id}">${id}</a>`,
    html`<span class="clip" title="${type}">${type}</span>`,
    timeText(receivedAt),
    payment === null ? '–' : amountText(payment.amount, payment.currency, payment.digits),
    subscription === null ? '–' : (subscription.plan ?? 'none'),
  ]
}

function paymentsText({ payments }: WaitingCustomer): string {
  return payments.length === 0
    ? '–'
    : payments
        .map(({ amount, currency, digits }) => amountText(amount, currency, digits))
        .join(', ')
}

function countText(count: number): string {
  const text = count.toLocaleString('en-GB')
  return count >= mostCounted ? `${text} or more` : text
}
