import {
  type EventAge,
  type EventStatus,
  eventStatuses,
  type Forwarding,
  type ReceivedEvent,
} from '#src/billing/events.ts'
import type { Replay } from '#src/billing/replays.ts'
import type { Count } from '#src/http/lists/pagination.ts'
import { Line } from '#src/http/schemas.ts'
import type { LedgerState } from '#src/ledger/last-check.ts'
import {
  type BadgeMood,
  badge,
  type Progress,
  pageHead,
  progressBar,
  progressHead,
} from '#src/pages/kit/components.ts'
import { filtersOf, isFiltered, type ListQuery, type Used } from '#src/pages/kit/filters.ts'
import { formOf, line, renderForm, submission } from '#src/pages/kit/form.ts'
import { submissionField } from '#src/pages/kit/form-submission.ts'
import {
  type Cell,
  copyable,
  type Html,
  html,
  indentJson,
  isolated,
  momentText,
  timeText,
} from '#src/pages/kit/html.ts'
import { layout, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { countLine, listTable, type ShownList } from '#src/pages/kit/list.ts'
import { billingFlow } from './flow.ts'
import { ledgerSection, ledgerText } from './ledger.ts'
import { unlinkedHref, unlinkedPath } from './unlinked.ts'

export type BillingView = {
  viewer: Viewer
  counts: readonly { status: EventStatus; events: number }[]
  ages: readonly EventAge[]
  /** Null before the first check. */
  ledger: LedgerState | null
  query: ListQuery
  used: Used
  events: readonly ReceivedEvent[]
  cursors: Pick<ShownList, 'nextCursor' | 'previousCursor'>
  count: Count
}

/** Received billing events, for operators. */
export function billingPage(view: BillingView): Page {
  const { used } = view
  const path = '/app/billing'
  const dead = view.counts.find(({ status }) => status === 'dead')?.events ?? 0
  return layout(
    'Billing events',
    html`${pageHead({ title: 'Billing events', lead: html`Webhook events from the billing provider, newest first. Only operators see this page. <a href="/app/billing/customers">Link customers to users</a> · <a href="${unlinkedPath}">Unlinked customers</a>` })}
      <section class="card" aria-labelledby="statuses">
        <h2 id="statuses">By status</h2>
        ${billingFlow(view.counts, view.ages)}
        ${dead === 0 ? '' : replayDead(dead)}
        ${ledgerText(view.ledger)}
      </section>
      <section class="card" aria-labelledby="received">
        <h2 id="received">Received</h2>
        ${countLine(view.count)}
        ${filtersOf({ path, query: view.query, used, looks })}
        <div class="compact">${listTable(columns, view.events.map(eventRow), { path, filter: used, ...view.cursors }, noEvents(used))}</div>
      </section>
      ${ledgerSection(view.ledger)}`,
    { current: '/app/billing', ...view.viewer },
  )
}

function replayDead(dead: number): Html {
  const what = dead === 1 ? 'the dead event' : 'all dead events'
  return html`<form class="row" method="post" action="/app/billing/replay">${submissionField()}<button class="button">Replay ${what}</button></form>`
}

const forwardingChoices = [
  { value: 'waiting', label: 'Not posted to the app yet' },
  { value: 'failed', label: 'Not posted to the app: failed' },
  { value: 'delivered', label: 'Posted to the app' },
] as const

const looks = {
  status: {
    ...{ label: 'Status', all: 'All statuses' },
    options: eventStatuses.map((value) => ({ value, label: value })),
  },
  type: { label: 'Type' },
  forwarding: {
    ...{ label: 'Posted to the app', all: 'Posted to the app or not' },
    options: forwardingChoices,
  },
  created: { label: 'Received' },
}

function noEvents(used: Used): Html {
  return isFiltered(used)
    ? html`<p>No matching events. <a href="/app/billing">Show all events</a></p>`
    : html`<p>No events yet. In the demo, <code>npm run gatehouse -- trigger charge.succeeded</code> sends one.</p>`
}

const columns = [
  { label: 'Event' },
  { label: 'Type' },
  { label: 'Received' },
  { label: 'Status' },
  { label: 'Attempts', kind: 'number' },
  { label: 'Outcome', kind: 'wrap' },
] as const

function eventRow(event: ReceivedEvent): Cell[] {
  const { id, type, receivedAt, status, attempts, lastError } = event
  return [
    html`<a class="clip" href="/app/billing/${encodeURIComponent(id)}" title="${id}">${id}</a>`,
    html`<span class="clip" title="${type}">${type}</span>`,
    timeText(receivedAt),
    statusBadge(status),
    attempts,
    lastError === null
      ? unusualOutcome(event)
      : html`<span class="fault">${errorText(lastError)}</span>${waitsFor(event)}`,
  ]
}

/** What the status does not say already; empty for most events. */
function unusualOutcome(event: ReceivedEvent): Html {
  const { outcome } = event
  return html`${outcome === 'processed' ? '' : (outcomes[outcome ?? ''] ?? '')}${waitsFor(event)}`
}

function waitsFor({ customer }: ReceivedEvent): Html {
  return customer === null
    ? html``
    : html` <a href="${unlinkedHref(customer)}">Link ${isolated(customer)}</a>`
}

const statuses: Readonly<Record<EventStatus, { mood: BadgeMood; text: string }>> = {
  recorded: { mood: 'plainly', text: 'Waiting to be processed.' },
  processed: { mood: 'good', text: 'Processed.' },
  ignored: { mood: 'plainly', text: 'Ignored: this event is not processed.' },
  unlinked: {
    mood: 'warning',
    text: 'Waits until its customer is linked to a user. It is processed then.',
  },
  failed: { mood: 'warning', text: 'Failed. It will be retried.' },
  dead: { mood: 'bad', text: 'Failed after the last retry. Fix the cause, then replay it.' },
  dismissed: { mood: 'plainly', text: 'Dismissed: an operator decided not to process it.' },
}
const outcomes: Readonly<Record<string, string>> = {
  processed: 'Processed.',
  stale: 'No change: a newer state of the object was already applied.',
  gone: 'The provider no longer has the object.',
  kind: 'Events of this type are not processed.',
  guest: 'It is about somebody who is not a customer.',
  'test-mode': 'It belongs to a test, and this is production.',
  'connected-account': 'It happened in a connected account.',
}

/** A status as a badge. */
function statusBadge(status: EventStatus): Html {
  return badge(status, statuses[status].mood)
}

/** The outcome of an event as a sentence. */
function outcomeText(event: { status: EventStatus; outcome: string | null }): string {
  return outcomes[event.outcome ?? ''] ?? statuses[event.status].text
}

/** The worker's error text as a sentence; the worker writes it without a capital letter. */
function errorText(lastError: string): string {
  const sentence = lastError.charAt(0).toUpperCase() + lastError.slice(1)
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`
}

export const dismissForm = formOf({
  submission,
  reason: line(Line(500), 'Reason', {
    attributes: { placeholder: 'Why it need not be processed' },
  }),
})

const shownCharacters = 20_000

export type BillingEventView = {
  viewer: Viewer
  event: ReceivedEvent & { body: string | null }
  /** Its customer if no user has it and the event is not processed. */
  unlinked: string | null
}

/** One received event with its raw body and a button to replay it. */
export function billingEventPage({ viewer, event, unlinked }: BillingEventView): Page {
  const { id, type, status, attempts, lastError, processedAt, otherBodies, body } = event
  const { dismissedReason } = event
  return layout(
    `Event ${id}`,
    html`${pageHead({ trail: { href: '/app/billing', label: 'Billing events' }, title: id, lead: type })}
      <section class="card" aria-labelledby="status">
        <h2 id="status">Status ${statusBadge(status)}</h2>
        <p>${outcomeText(event)}</p>
        ${lastError === null ? '' : html`<p class="fault wrap">${errorText(lastError)}</p>`}
        ${dismissedReason === null ? '' : html`<p class="wrap">Reason: ${dismissedReason}</p>`}
        ${unlinked === null ? '' : html`<p>No user gets the invoices and the plan of its customer. <a href="${unlinkedHref(unlinked)}">Link ${isolated(unlinked)}</a></p>`}
        ${otherBodies === 0 ? '' : otherBodiesText(otherBodies)}
        <dl class="facts">
          <div><dt>Received</dt><dd>${momentText(event.receivedAt)}</dd></div>
          <div><dt>Processed</dt><dd>${processedAt === null ? 'Not yet' : momentText(processedAt)}</dd></div>
          <div><dt>Attempts</dt><dd>${attempts}</dd></div>
        </dl>
        ${event.forwarding === null ? '' : forwardingText(event.forwarding)}
        ${body === null ? '' : replayForm(id)}
        ${status === 'dead' || status === 'unlinked' ? dismissal(id, viewer) : ''}
      </section>
      <section class="card" aria-labelledby="body">
        <h2 id="body">Body</h2>
        ${body === null ? html`<p class="quiet">The body is no longer stored, so this event cannot be replayed.</p>` : bodyText(body)}
      </section>`,
    { current: '/app/billing', ...viewer },
  )
}

function replayForm(id: string): Html {
  return html`<form class="row" method="post" action="/app/billing/${encodeURIComponent(id)}/replay">${submissionField()}<button class="button">Replay event</button></form>`
}

/** Whether the app has the event. */
function forwardingText({ status, attempts, lastError }: Forwarding): Html {
  const made = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  const texts = {
    waiting: `Not posted to the app yet, after ${made}.`,
    delivered: `Posted to the app, after ${made}.`,
    failed: `Not posted to the app: ${made} failed. Replay the event to post it again.`,
  }
  const error = lastError === null ? '' : ` ${errorText(lastError)}`
  return html`<p class="${status === 'delivered' ? 'quiet' : 'fault wrap'}">${texts[status]}${error}</p>`
}

function dismissal(id: string, viewer: Viewer): Html {
  return renderForm(
    dismissForm,
    { viewer, action: `/app/billing/${encodeURIComponent(id)}/dismiss`, inline: true },
    ({ reason }) =>
      html`<label>Reason ${reason}</label><button class="button plain">Dismiss event</button>`,
  )
}

function otherBodiesText(otherBodies: number): Html {
  const copies =
    otherBodies === 1 ? '1 duplicate of this event' : `${otherBodies} duplicates of this event`
  return html`<p class="fault">${copies} had a different body. The first body was kept.</p>`
}

function bodyText(body: string): Html {
  const cut = body.length > shownCharacters
  const shown = cut ? body.slice(0, shownCharacters) : indentJson(body)
  const total = body.length.toLocaleString('en')
  return html`${copyable('body-text', 'Body', 'excerpt', shown)}
        ${cut ? html`<p class="quiet small">The first ${shownCharacters.toLocaleString('en')} of ${total} characters.</p>` : ''}`
}

/** Progress of a replay, for its page and the page's script. */
export function progressOf({ total, succeeded, failed, finishedAt }: Replay): Progress {
  const isLast = finishedAt !== null
  const done = succeeded + failed
  // <progress> needs max > 0, also for a replay without events.
  const max = Math.max(total, 1)
  const failures = failed === 0 ? '' : `, ${failed} failed again`
  const words = `${done} of ${total} events replayed${failures}`
  return { value: isLast ? max : done, max, words: isLast ? `Done: ${words}.` : words, isLast }
}

/** Progress page of a replay. Its script updates it live; without scripts the page reloads. */
export function billingReplayPage(replay: Replay, viewer: Viewer): Page {
  const progress = progressOf(replay)
  return layout(
    'Replay',
    html`${pageHead({ trail: { href: '/app/billing', label: 'Billing events' }, title: 'Replay', lead: html`Started ${momentText(replay.createdAt)}. No event takes effect twice.` })}
      <section class="card" aria-labelledby="progress">
        <h2 id="progress">Progress</h2>
        ${progressBar(progress, `/app/billing/replays/${replay.id}/events`)}
        <p class="quiet small">You can close this page; the replay continues. If the bar does not move, no worker is running.</p>
        <div class="row"><a class="button plain slim" href="/app/billing?status=dead">View dead events</a></div>
      </section>`,
    { current: '/app/billing', ...viewer },
    progressHead(progress),
  )
}
