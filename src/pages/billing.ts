import { mostCounted } from '#src/billing/counts.ts'
import { type EventStatus, eventStatuses, type ReceivedEvent } from '#src/billing/events.ts'
import { errorText, meaningOf, statusBadge } from '#src/pages/billing/words.ts'
import { type Html, html } from './html.ts'
import { layout } from './layout.ts'
import type { Viewer } from './navigation.ts'
import { type Cell, table } from './table.ts'
import { timeText } from './time.ts'

export type BillingView = {
  viewer: Viewer
  counts: readonly { status: EventStatus; events: number }[]
  /** What the list is limited to; empty texts limit nothing. */
  filter: { status: string; type: string }
  events: readonly ReceivedEvent[]
  /** Where the list goes on; null on its last page. */
  nextCursor: string | null
}

/** What was received from the billing provider, for those who run the service. */
export function billingPage(view: BillingView): string {
  const dead = view.counts.find(({ status }) => status === 'dead')?.events ?? 0
  return layout(
    'Billing events',
    html`<header class="head">
        <h1>Billing events</h1>
        <p class="quiet">What the billing provider has sent, newest first. For operators.</p>
      </header>
      <section class="card" aria-labelledby="states">
        <h2 id="states">By state</h2>
        <dl class="facts">${view.counts.map(countEntry)}</dl>
        ${dead === 0 ? '' : replayDead(dead)}
      </section>
      <section class="card" aria-labelledby="received">
        <h2 id="received">Received</h2>
        ${filterForm(view.filter)}
        ${view.events.length === 0 ? noEvents(view.filter) : table(columns, view.events.map(eventRow))}
        ${view.nextCursor === null ? '' : olderLink(view.filter, view.nextCursor)}
      </section>`,
    { current: '/app/billing', ...view.viewer },
  )
}

function countEntry({ status, events }: BillingView['counts'][number]): Html {
  const amount = events === mostCounted ? `${mostCounted.toLocaleString('en')} or more` : events
  return html`<div><dt>${statusBadge(status)}</dt><dd><a href="/app/billing?status=${status}" aria-label="${amount} ${status}">${amount}</a></dd></div>`
}

function replayDead(dead: number): Html {
  const what = dead === 1 ? 'the dead one' : 'all dead ones'
  return html`<form class="row" method="post" action="/app/billing/replay"><button class="button">Replay ${what}</button></form>`
}

function filterForm({ status, type }: BillingView['filter']): Html {
  const options = eventStatuses.map((one) =>
    one === status ? html`<option selected>${one}</option>` : html`<option>${one}</option>`,
  )
  return html`<form class="inline filter" method="get" action="/app/billing">
          <select name="status" aria-label="State"><option value="">every state</option>${options}</select>
          <input name="type" value="${type}" maxlength="255" placeholder="every type" aria-label="Type">
          <button class="button plain slim">Show</button>
        </form>`
}

function noEvents({ status, type }: BillingView['filter']): Html {
  return status === '' && type === ''
    ? html`<p class="quiet">Nothing was received yet. In the demo, <code>npm run gatehouse -- trigger charge.succeeded</code> sends one.</p>`
    : html`<p class="quiet">Nothing was received that fits. <a href="/app/billing">Show every event</a></p>`
}

const columns = [
  { label: 'Event', kind: 'wrap' },
  { label: 'Received' },
  { label: 'State' },
  { label: 'Outcome', kind: 'wrap' },
] as const

function eventRow(event: ReceivedEvent): Cell[] {
  const { id, type, receivedAt, status, attempts, lastError } = event
  return [
    html`<a href="/app/billing/${encodeURIComponent(id)}">${id}</a><br><span class="quiet">${type}</span>`,
    timeText(receivedAt),
    html`${statusBadge(status)}${attempts > 1 ? html`<br><span class="quiet whole">${attempts} attempts</span>` : ''}`,
    html`${meaningOf(event)}${lastError === null ? '' : html`<br><span class="fault">${errorText(lastError)}</span>`}`,
  ]
}

function olderLink({ status, type }: BillingView['filter'], cursor: string): Html {
  const query = new URLSearchParams({ status, type, cursor })
  return html`<p class="row"><a href="/app/billing?${query.toString()}">Older events</a></p>`
}
