import { submissionField } from '#src/pages/form-submission.ts'
import { durationText, type Html, html, isolated, momentText, table } from '#src/pages/html.ts'
import { layout, noticeText, type Viewer } from '#src/pages/layout.ts'
import {
  type Attempt,
  type Delivery,
  deliveryStatuses,
  maxShownAttempts,
  type SentRequest,
} from '#src/webhooks/delivery/deliveries.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import { deliveryBadge, deliveryLabels } from './badges.ts'
import { notices } from './endpoints.ts'

export type DeliveryView = {
  viewer: Viewer
  delivery: Delivery
  sent: SentRequest
  done: string | undefined
  /** True if a replay was refused because the endpoint is disabled. */
  isDisabled: boolean
}

/** One delivery of an event to an endpoint: its request, its attempts and their responses. */
export function deliveryPage(view: DeliveryView): string {
  const { viewer, delivery, sent } = view
  const endpoint = `/app/webhooks/${delivery.endpointId}`
  return layout(
    'Delivery',
    html`<header class="head">
        <p class="trail wrap"><a href="/app/webhooks">Webhooks</a> / <a href="${endpoint}">${isolated(sent.url)}</a></p>
        <h1>${delivery.eventType}</h1>
      </header>
      ${noticeText(notices, view.done)}
      ${view.isDisabled ? disabledNotice(endpoint) : ''}
      <section class="card" aria-labelledby="facts">
        <h2 id="facts">Overview</h2>
        <dl class="facts">
          <div><dt>Status</dt><dd>${deliveryBadge(delivery.status)}</dd></div>
          <div><dt>Created</dt><dd>${momentText(delivery.createdAt)}</dd></div>
          ${delivery.nextAttemptAt === null ? '' : html`<div><dt>Next attempt</dt><dd>${momentText(delivery.nextAttemptAt)}</dd></div>`}
          <div><dt>Event ID</dt><dd class="wrap"><code>${delivery.eventId}</code></dd></div>
        </dl>
        <form class="row" method="post" action="/app/deliveries/${delivery.id}/replay">${submissionField()}<button class="button">Replay delivery</button></form>
      </section>
      <section class="card" aria-labelledby="attempts">
        <h2 id="attempts">Attempts</h2>
        ${attemptTimeline(delivery.attempts)}
      </section>
      ${requestSection(sent)}`,
    { current: '/app/webhooks', ...viewer },
  )
}

function disabledNotice(endpoint: string): Html {
  return html`<p class="notice fault" role="alert">The endpoint is disabled, so nothing was sent. <a href="${endpoint}#actions">Enable the endpoint</a> first, then replay this delivery.</p>`
}

function requestSection({ url, headers, body }: SentRequest): Html {
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  return html`<section class="card" aria-labelledby="request">
        <h2 id="request">Request</h2>
        <pre class="excerpt" tabindex="0" aria-label="Request headers"><code>${[`POST ${url}`, ...lines].join('\n')}</code></pre>
        <pre class="excerpt" tabindex="0" aria-label="Request body"><code>${body}</code></pre>
        <p class="quiet small">The body is shown exactly as it is signed. Each attempt has its own timestamp and signature.</p>
      </section>`
}

/** Attempts in chronological order, grouped into the scheduled series and each replay. */
function attemptTimeline(attempts: readonly Attempt[]): Html {
  if (attempts.length === 0) return html`<p class="quiet">No attempts yet.</p>`
  const series = [...Map.groupBy(attempts, (attempt) => attempt.series)]
  const parts = series.map(
    ([number, made]) => html`<h3>${number === 0 ? 'Scheduled attempts' : `Replay ${number}`}</h3>
        <ol class="timeline">${made.map(attemptItem)}</ol>`,
  )
  return html`${parts}
        ${attempts.length < maxShownAttempts ? '' : html`<p class="quiet">Only the newest ${maxShownAttempts} attempts are shown.</p>`}`
}

/** One attempt: time, duration, response, and why it failed. */
export function attemptItem(attempt: Attempt): Html {
  const { number, startedAt, durationMs, explanation, responseExcerpt } = attempt
  return html`<li>
            <p><span class="badge ${explanation === null ? 'good' : 'bad'}">${outcomeOf(attempt)}</span> Attempt ${number}, ${durationText(durationMs)} <span class="quiet">${momentText(startedAt)}</span></p>
            ${explanation === null ? '' : html`<p class="wrap">${explanation}</p>`}
            ${excerptOf(responseExcerpt)}
          </li>`
}

function outcomeOf({ statusCode }: Attempt): string {
  return statusCode === null ? 'No response' : String(statusCode)
}

function excerptOf(excerpt: string | null): Html | string {
  if (excerpt === null) return ''
  if (excerpt === '') return html`<p class="quiet">The response had no body.</p>`
  return html`<pre class="excerpt" tabindex="0" aria-label="Start of the response"><code>${excerpt}</code></pre>`
}

export type DeliveryFilter = { status: string; eventType: string }

export type DeliveryPage = {
  data: readonly Delivery[]
  nextCursor: string | null
  filter: DeliveryFilter
  /** True unless this is the newest page. */
  isLater: boolean
}

/** The deliveries of an endpoint, newest first, one page at a time. */
export function deliverySection(endpointId: string, page: DeliveryPage): Html {
  const path = `/app/webhooks/${endpointId}`
  const filtered = page.filter.status !== '' || page.filter.eventType !== ''
  const none = filtered
    ? html`No matching deliveries. <a href="${path}#deliveries">Show all</a>`
    : html`No deliveries yet. Send a test event above.`
  return html`<section class="card" aria-labelledby="deliveries">
        <h2 id="deliveries">Deliveries</h2>
        ${filterForm(path, page.filter)}
        ${page.data.length === 0 ? html`<p class="quiet">${none}</p>` : table(columns, page.data.map(deliveryRow))}
        <nav class="row" aria-label="Delivery pages">
          ${page.isLater ? html`<a href="${linkTo(path, page.filter)}">Newest</a>` : ''}
          ${page.nextCursor === null ? '' : html`<a href="${linkTo(path, page.filter, page.nextCursor)}" rel="next">Older</a>`}
        </nav>
      </section>`
}

function filterForm(path: string, { status, eventType }: DeliveryFilter): Html {
  const statuses = deliveryStatuses.map((value) => option(value, deliveryLabels[value], status))
  const types = eventTypes.map((value) => option(value, value, eventType))
  return html`<form class="inline filter" method="get" action="${path}#deliveries">
          <select name="status" aria-label="Status">${option('', 'All statuses', status)}${statuses}</select>
          <select name="eventType" aria-label="Event type">${option('', 'All event types', eventType)}${types}</select>
          <button class="button plain slim">Filter</button>
        </form>`
}

function option(value: string, label: string, chosen: string): Html {
  return html`<option value="${value}"${value === chosen ? html` selected` : ''}>${label}</option>`
}

const columns = [
  { label: 'Event' },
  { label: 'Status' },
  { label: 'Outcome', kind: 'wrap' },
] as const

function deliveryRow(delivery: Delivery): Html[] {
  const { id, eventType, status, createdAt, attempts } = delivery
  return [
    html`<a href="/app/deliveries/${id}">${eventType}</a><br><span class="quiet">${momentText(createdAt)}</span>`,
    html`${deliveryBadge(status)}<br><span class="quiet whole">${countText(attempts.length)}</span>`,
    outcomeText(delivery),
  ]
}

function countText(count: number): string {
  return count === 1 ? '1 attempt' : `${count} attempts`
}

/** The last failure or the current state, and the time of the next attempt. */
function outcomeText({ attempts, status, nextAttemptAt }: Delivery): Html {
  const failure = attempts.at(-1)?.explanation ?? null
  const text = failure ?? (status === 'succeeded' ? 'Delivered.' : 'Waiting to be sent.')
  return html`${text}${
    nextAttemptAt === null
      ? ''
      : html`<br><span class="quiet">Next attempt ${momentText(nextAttemptAt)}</span>`
  }`
}

function linkTo(path: string, { status, eventType }: DeliveryFilter, cursor?: string): string {
  const query = new URLSearchParams({ status, eventType, ...(cursor && { cursor }) })
  return `${path}?${query}#deliveries`
}
