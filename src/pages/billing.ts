import {
  type EventStatus,
  eventStatuses,
  mostCounted,
  type ReceivedEvent,
} from '#src/billing/events.ts'
import type { Replay } from '#src/billing/replays.ts'
import { type Cell, type Html, html, momentText, table, timeText } from './html.ts'
import { layout, type Viewer } from './layout.ts'
import { type Progress, progressBar, progressHead } from './progress.ts'

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

const states: Readonly<Record<EventStatus, { mood: string; deps: string }>> = {
  recorded: { mood: 'plainly', deps: 'It waits for its turn.' },
  processed: { mood: 'good', deps: 'It was worked on.' },
  ignored: { mood: 'plainly', deps: 'Its type is not one that is worked on.' },
  failed: { mood: 'warning', deps: 'It failed and will be tried again.' },
  dead: { mood: 'bad', deps: 'It failed for good. Mend the cause, then replay it.' },
}
const outcomes: Readonly<Record<string, string>> = {
  processed: 'It was worked on.',
  stale: 'Nothing was changed: a newer state of the object was applied before.',
  gone: 'Nothing was changed: the provider no longer has the object.',
}

/** A state as a small label. */
function statusBadge(status: EventStatus): Html {
  return html`<span class="badge ${states[status].mood}">${status}</span>`
}

/** What became of an event, in a sentence. */
function meaningOf(event: { status: EventStatus; outcome: string | null }): string {
  return outcomes[event.outcome ?? ''] ?? states[event.status].deps
}

/** Why the last attempt failed, as a sentence; what the worker noted begins without a capital. */
function errorText(lastError: string): string {
  const sentence = lastError.charAt(0).toUpperCase() + lastError.slice(1)
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`
}

const shownCharacters = 20_000

/** One received event with its raw body and a button to run it again. */
export function billingEventPage(
  event: ReceivedEvent & { body: string | null },
  viewer: Viewer,
): string {
  const { id, type, status, attempts, lastError, processedAt, otherBodies, body } = event
  return layout(
    `Event ${id}`,
    html`<header class="head">
        <p class="trail"><a href="/app/billing">Billing events</a></p>
        <h1 class="wrap">${id}</h1>
        <p class="quiet">${type}</p>
      </header>
      <section class="card" aria-labelledby="became">
        <h2 id="became">What became of it ${statusBadge(status)}</h2>
        <p>${meaningOf(event)}</p>
        ${lastError === null ? '' : html`<p class="fault wrap">${errorText(lastError)}</p>`}
        ${otherBodies === 0 ? '' : otherBodiesText(otherBodies)}
        <dl class="facts">
          <div><dt>Received</dt><dd>${momentText(event.receivedAt)}</dd></div>
          <div><dt>Worked on</dt><dd>${processedAt === null ? 'not yet' : momentText(processedAt)}</dd></div>
          <div><dt>Attempts</dt><dd>${attempts}</dd></div>
        </dl>
        ${body === null ? '' : replayForm(id)}
      </section>
      <section class="card" aria-labelledby="body">
        <h2 id="body">Body</h2>
        ${body === null ? html`<p class="quiet">It is no longer kept, so the event cannot be run again.</p>` : bodyText(body)}
      </section>`,
    { current: '/app/billing', ...viewer },
  )
}

function replayForm(id: string): Html {
  return html`<form class="row" method="post" action="/app/billing/${encodeURIComponent(id)}/replay"><button class="button">Replay it</button></form>`
}

function otherBodiesText(otherBodies: number): Html {
  const copies = otherBodies === 1 ? 'One copy' : `${otherBodies} copies`
  return html`<p class="fault">${copies} of this id came with another body. The first body stayed.</p>`
}

function bodyText(body: string): Html {
  const cut = body.length > shownCharacters
  const shown = cut ? body.slice(0, shownCharacters) : laidOut(body)
  const total = body.length.toLocaleString('en')
  return html`<pre class="excerpt" tabindex="0" aria-labelledby="body">${shown}</pre>
        ${cut ? html`<p class="quiet small">The first ${shownCharacters.toLocaleString('en')} of ${total} characters.</p>` : ''}`
}

const blankOutsideOfTexts = /("(?:[^"\\]|\\.)*")|\s+/g

/** JSON with a line for each field, where that changes nothing but blanks; else as received. */
export function laidOut(body: string): string {
  try {
    const value: unknown = JSON.parse(body)
    // A number beyond 2^53 or a field that comes twice would not survive being read.
    const faithful = JSON.stringify(value) === body.replaceAll(blankOutsideOfTexts, '$1')
    return faithful ? JSON.stringify(value, null, 2) : body
  } catch {
    return body
  }
}

/** How far a replay has come, as its page and the script of it show it. */
export function progressOf({ total, succeeded, failed, finishedAt }: Replay): Progress {
  const isLast = finishedAt !== null
  const done = succeeded + failed
  // Without any event it is done as well.
  const max = Math.max(total, 1)
  const failures = failed === 0 ? '' : `, ${failed} failed again`
  const words = `${done} of ${total} events run again${failures}`
  return { value: isLast ? max : done, max, words: isLast ? `Done: ${words}.` : words, isLast }
}

/** A replay while it is worked on: its script follows it, without one the page loads anew. */
export function billingReplayPage(replay: Replay, viewer: Viewer): string {
  const progress = progressOf(replay)
  return layout(
    'Running again',
    html`<header class="head">
        <p class="trail"><a href="/app/billing">Billing events</a></p>
        <h1>Running again</h1>
        <p class="quiet">Asked for ${momentText(replay.createdAt)}. No event takes effect twice.</p>
      </header>
      <section class="card" aria-labelledby="progress">
        <h2 id="progress">Progress</h2>
        ${progressBar(progress, `/app/billing/replays/${replay.id}/events`)}
        <p class="quiet small">This page may be closed; the work goes on. When nothing moves, no worker is running.</p>
        <div class="row"><a class="button plain slim" href="/app/billing?status=dead">See the dead events</a></div>
      </section>`,
    { current: '/app/billing', ...viewer },
    progressHead(progress),
  )
}
