import { mostCounted } from '#src/billing/counts.ts'
import { type EventStatus, eventStatuses, type ReceivedEvent } from '#src/billing/received.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import { timeText } from '../time.ts'
import { errorText, meaningOf, statusBadge } from './words.ts'

export type BillingView = {
  role: string | null
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
        ${view.events.length === 0 ? html`<p class="quiet">Nothing was received that fits.</p>` : eventTable(view.events)}
        ${view.nextCursor === null ? '' : olderLink(view.filter, view.nextCursor)}
      </section>`,
    { current: '/app/billing', role: view.role, operator: true },
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

function eventTable(events: readonly ReceivedEvent[]): Html {
  const rows = events.map(
    (event) => html`<tr>
            <td class="wrap"><a href="/app/billing/${encodeURIComponent(event.id)}">${event.id}</a><br><span class="quiet">${event.type}</span></td>
            <td>${timeText(event.receivedAt)}</td>
            <td>${statusBadge(event.status)} ${event.attempts > 1 ? html`<span class="quiet">${event.attempts} attempts</span>` : ''}</td>
            <td class="wrap">${meaningOf(event)}${event.lastError === null ? '' : html`<br><span class="fault">${errorText(event.lastError)}</span>`}</td>
          </tr>`,
  )
  return html`<div class="scroll"><table>
          <thead><tr><th scope="col">Event</th><th scope="col">Received</th><th scope="col">State</th><th scope="col">What became of it</th></tr></thead>
          <tbody>${rows}</tbody>
        </table></div>`
}

function olderLink({ status, type }: BillingView['filter'], cursor: string): Html {
  const query = new URLSearchParams({ status, type, cursor })
  return html`<p class="row"><a href="/app/billing?${query.toString()}">Older events</a></p>`
}
