import type { Count } from '#src/http/lists/pagination.ts'
import {
  type FilterLooks,
  filtersOf,
  isFiltered,
  type ListQuery,
  type Used,
} from '#src/pages/kit/filters.ts'
import { submissionField } from '#src/pages/kit/form-submission.ts'
import { deliveryBadge } from '#src/pages/kit/health.ts'
import {
  copyable,
  copyButton,
  dueText,
  durationText,
  type Html,
  html,
  indentJson,
  isolated,
  momentText,
  table,
} from '#src/pages/kit/html.ts'
import {
  baseOf,
  formToken,
  layout,
  noticeText,
  type Page,
  type Viewer,
} from '#src/pages/kit/layout.ts'
import { countLine, listHref, pageLinks, type ShownList } from '#src/pages/kit/list.ts'
import { sinceLook } from '#src/pages/kit/since.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import {
  type Attempt,
  type Delivery,
  deliveryStatuses,
  maxShownAttempts,
  type SentRequest,
} from '#src/webhooks/history/deliveries.ts'
import {
  httpStatusClasses,
  httpStatusPattern,
  searchedDeliveries,
} from '#src/webhooks/history/filter.ts'
import { deliveryLabels } from './badges.ts'
import { notices } from './endpoints.ts'
import type { ReplayTimes } from './forms.ts'
import { retryTimeline } from './retry-timeline.ts'
import { type CheckedSignature, signatureSection } from './signature-check.ts'

export type DeliveryView = {
  viewer: Viewer
  delivery: Delivery
  sent: SentRequest
  done: string | undefined
  /** True if a replay was refused because the endpoint is disabled or paused. */
  isDisabled: boolean
  /** The waits before each attempt. */
  retrySeconds: readonly number[]
  /** The result of the signature checker. */
  checked: CheckedSignature | null
}

/** One delivery of an event to an endpoint: its request, its attempts and their responses. */
export function deliveryPage(view: DeliveryView): Page {
  const { viewer, delivery, sent } = view
  const base = baseOf(viewer)
  const endpoint = `${base}/webhooks/${delivery.endpointId}`
  return layout(
    'Delivery',
    html`<header class="head">
        <p class="trail wrap"><a href="${base}/webhooks">Webhooks</a> / <a href="${endpoint}/deliveries">${isolated(sent.url)}</a></p>
        <div class="headed">
          <h1>${delivery.eventType}</h1>
          <form method="post" action="${base}/deliveries/${delivery.id}/replay">${formToken(viewer)}${submissionField()}<button class="button">Replay delivery</button></form>
        </div>
      </header>
      ${noticeText(notices, view.done)}
      ${view.isDisabled ? disabledNotice(endpoint) : ''}
      <section class="card" aria-labelledby="facts">
        <h2 id="facts">Overview</h2>
        <dl class="facts">
          <div><dt>Status</dt><dd>${deliveryBadge(delivery.health)}</dd></div>
          <div><dt>Created</dt><dd>${momentText(delivery.createdAt)}</dd></div>
          ${delivery.nextAttemptAt === null ? '' : html`<div><dt>Next attempt</dt><dd>${momentText(delivery.nextAttemptAt)}</dd></div>`}
          <div><dt>Delivery ID</dt><dd class="wrap"><code id="delivery-id">${delivery.id}</code> ${copyButton('delivery-id', 'Copy delivery ID')}</dd></div>
          <div><dt>Event ID</dt><dd class="wrap"><code id="event-id">${delivery.eventId}</code> ${copyButton('event-id', 'Copy event ID')}</dd></div>
        </dl>
      </section>
      <section class="card" aria-labelledby="attempts">
        <h2 id="attempts">Attempts</h2>
        ${retryTimeline(delivery, view.retrySeconds)}
        ${attemptTimeline(delivery)}
      </section>
      ${requestSection(sent)}
      ${signatureSection(delivery.id, view.checked, view.viewer)}`,
    { current: '/app/webhooks', ...viewer },
  )
}

function disabledNotice(endpoint: string): Html {
  return html`<p class="notice fault" role="alert">The endpoint is disabled or paused, so nothing was sent. <a href="${endpoint}">Enable or resume the endpoint</a> first, then replay this delivery.</p>`
}

function requestSection(sent: SentRequest): Html {
  const { url, headers, body } = sent
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  return html`<section class="card" aria-labelledby="request">
        <div class="headed"><h2 id="request">Request</h2>${copyButton('request-curl', 'Copy as curl', 'Copy as curl')}</div>
        ${copyable('request-headers', 'Request headers', 'excerpt', [`POST ${url}`, ...lines].join('\n'))}
        ${copyable('request-body', 'Request body', 'excerpt', body)}
        <p class="quiet small">The body is shown exactly as it is signed. Each attempt has its own timestamp and signature.</p>
        <details>
          <summary>Send it with curl</summary>
          <p class="quiet">Signs the body as the worker does, with the endpoint’s secret in the variable <code>SECRET</code>.</p>
          ${copyable('request-curl', 'Command', 'excerpt', curlOf(sent))}
        </details>
      </section>`
}

/** The request as commands of a shell, which sign it with the secret in `SECRET`. */
export function curlOf({ url, headers, body, profile }: SentRequest): string {
  const own = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
  const fixed = headers.filter(([name]) => !own.includes(name))
  const [, id = ''] = headers.find(([name]) => name === 'webhook-id') ?? []
  const isStandard = profile === 'standard'
  const signed = isStandard ? '$id.$timestamp.$body' : '$timestamp.$body'
  const key = isStandard
    ? `-mac HMAC -macopt "hexkey:$(printf %s "\${SECRET#whsec_}" | base64 -d | od -An -vtx1 | tr -d ' \\n')"`
    : '-hmac "$SECRET"'
  return [
    `id=${quoted(id)}`,
    `body=${quoted(body)}`,
    'timestamp=$(date +%s)',
    `signature=$(printf %s "${signed}" | openssl dgst -sha256 ${key} -binary | base64)`,
    `curl -i ${quoted(url)} \\`,
    ...fixed.map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)} \\`),
    '  -H "webhook-id: $id" -H "webhook-timestamp: $timestamp" \\',
    '  -H "webhook-signature: v1,$signature" --data-raw "$body"',
  ].join('\n')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Attempts in chronological order, grouped into the scheduled series and each replay. */
function attemptTimeline({ attempts, nextAttemptAt }: Delivery): Html {
  const next =
    nextAttemptAt === null
      ? ''
      : html`<p class="quiet small">Next attempt ${dueText(nextAttemptAt)}, unless the endpoint is disabled or paused. A response with <code>Retry-After</code> can put it off, by at most two hours.</p>`
  if (attempts.length === 0) return html`<p class="quiet">No attempts yet.</p>${next}`
  const series = [...Map.groupBy(attempts, (attempt) => attempt.series)]
  const parts = series.map(
    ([number, made]) => html`<h3>${number === 0 ? 'Scheduled attempts' : `Replay ${number}`}</h3>
        <ol class="timeline">${made.map((attempt) => attemptItem(attempt, attempt === attempts.at(-1)))}</ol>`,
  )
  return html`${parts}
        ${next}
        ${attempts.length < maxShownAttempts ? '' : html`<p class="quiet">Only the newest ${maxShownAttempts} attempts are shown.</p>`}`
}

/** One attempt: time, duration, response, and why it failed. @param isOpen shows the response */
export function attemptItem(attempt: Attempt, isOpen = true): Html {
  const { number, startedAt, durationMs, explanation } = attempt
  const mood = explanation === null ? 'good' : 'bad'
  return html`<li class="${mood}">
            <p><span class="badge ${mood}">${outcomeOf(attempt)}</span> Attempt ${number}, ${durationText(durationMs)} <span class="quiet">${momentText(startedAt)}</span></p>
            ${explanation === null ? '' : html`<p class="wrap">${explanation}</p>`}
            ${responseOf(attempt, isOpen)}
          </li>`
}

function outcomeOf({ statusCode }: Attempt): string {
  return statusCode === null ? 'No response' : String(statusCode)
}

function responseOf({ series, number, responseExcerpt }: Attempt, isOpen: boolean): Html {
  if (responseExcerpt === null) return html``
  if (responseExcerpt === '') return html`<p class="quiet">The response had no body.</p>`
  const id = `response-${series}-${number}`
  return html`<details${isOpen ? html` open` : ''}><summary>Response</summary>${copyable(id, 'Response', 'excerpt', indentJson(responseExcerpt))}</details>`
}

export type DeliveryPage = {
  data: readonly Delivery[]
  cursors: Pick<ShownList, 'nextCursor' | 'previousCursor'>
  count: Count
  query: ListQuery
  used: Used
  /** The times that the filters mean now, as a replay takes them. */
  range: ReplayTimes
  /** True for the newest deliveries, whose page shows new ones by itself. */
  isLive: boolean
  /** Only the newest `searchedDeliveries` were compared with the filter. */
  isSearched: boolean
}

/** The deliveries of an endpoint, newest first, one page at a time. */
export function deliverySection(
  viewer: Viewer,
  endpointId: string,
  page: DeliveryPage,
  appTypes: readonly string[],
): Html {
  const { data, cursors, count, query, used, isLive } = page
  const base = baseOf(viewer)
  const endpoint = `${base}/webhooks/${endpointId}`
  const path = `${endpoint}/deliveries`
  const none = isFiltered(used)
    ? html`<p>No matching deliveries. <a href="${path}">Show all deliveries</a></p>`
    : html`<p>No deliveries yet. Send a test event with the button above.</p>`
  const stream = listHref(`${path}/events`, used)
  const live = html`<p class="row"><span class="quiet small" role="status" data-live-state></span> <a href="${listHref(path, used)}" data-reload>Reload</a></p>`
  return html`<section class="card" aria-labelledby="deliveries">
        <h2 id="deliveries">Deliveries</h2>
        ${countLine(count)}
        ${filtersOf({ path, query, used, looks: looks(appTypes) })}
        <datalist id="http-statuses">${httpStatusClasses.map((value) => html`<option value="${value}"></option>`)}</datalist>
        <div${isLive ? html` data-live="${stream}"` : ''}>${data.length === 0 ? html`<div class="empty">${none}</div>` : selectable(base, endpoint, page)}</div>
        ${page.isSearched ? html`<p class="quiet small">Searched in the newest ${searchedDeliveries.toLocaleString('en-GB')} deliveries.</p>` : ''}
        ${isLive ? live : ''}
        ${pageLinks({ path, filter: used, ...cursors })}
      </section>`
}

function looks(appTypes: readonly string[]): FilterLooks {
  const types = [...eventTypes, ...appTypes].map((value) => ({ value, label: value }))
  const statuses = deliveryStatuses.map((value) => ({ value, label: deliveryLabels[value] }))
  const ofHttp = {
    ...{ class: 'short', pattern: httpStatusPattern, list: 'http-statuses', autocomplete: 'off' },
    title: 'A status (404), a class (4xx), or none for no response',
  }
  return {
    event: { label: 'Event or delivery ID' },
    status: { label: 'Status', all: 'All statuses', options: statuses },
    eventType: { label: 'Event type', all: 'All event types', options: types },
    httpStatus: { label: 'HTTP status', attributes: ofHttp },
    since: sinceLook('Created'),
  }
}

/**
 * The new and the changed rows of the newest page since the last call, as a table that the page's
 * script takes them from; empty if nothing has changed. At most one page of rows.
 * @param base where the reader finds the pages of the webhooks
 */
export function changedRows(base: string): (deliveries: readonly Delivery[]) => string {
  let shown = new Map<string, string>()
  return function takeChanged(deliveries) {
    const rows = deliveries.map((delivery) => {
      const cells = deliveryRow(delivery, base)
      return { id: delivery.id, cells, markup: JSON.stringify(cells) }
    })
    const changed = rows.filter(({ id, markup }) => shown.get(id) !== markup)
    shown = new Map(rows.map(({ id, markup }) => [id, markup]))
    return changed.length === 0
      ? ''
      : table(
          columns,
          changed.map(({ cells }) => cells),
        ).markup
  }
}

/** The rows with check boxes, and what can be done with those selected or with all that match. */
function selectable(base: string, endpoint: string, { data, used, range }: DeliveryPage): Html {
  const { since: _, sort: _sort, ...others } = used
  const matching = listHref(`${endpoint}/replays/new`, { ...others, ...range })
  return html`<form class="selection compact" method="get" action="${endpoint}/replays/new">
          ${table(
            columns,
            data.map((delivery) => deliveryRow(delivery, base)),
          )}
          <div class="row">
            <button class="button plain slim" name="rows" value="selected">Replay selected</button>
            <a class="button plain slim" href="${matching}">Replay all that match</a>
          </div>
        </form>`
}

const columns = [
  { label: 'Select', kind: 'actions' },
  { label: 'Event' },
  { label: 'Event ID' },
  { label: 'Status' },
  { label: 'HTTP', kind: 'number' },
  { label: 'Duration', kind: 'number' },
  { label: 'Attempts', kind: 'number' },
  { label: 'Outcome' },
  { label: 'Created' },
] as const

/** One line; the page of the delivery has the rest. */
function deliveryRow(delivery: Delivery, base: string): Html[] {
  const { id, eventId, eventType, health, createdAt, attempts } = delivery
  const last = attempts.at(-1)
  return [
    html`<input type="checkbox" name="delivery" value="${id}" aria-label="Select ${eventType} ${eventId}">`,
    html`<a class="whole" href="${base}/deliveries/${id}">${eventType}</a>`,
    html`<code class="quiet clip" title="${eventId}">${eventId}</code>`,
    deliveryBadge(health),
    last === undefined ? html`–` : html`${last.statusCode ?? 'none'}`,
    html`<span class="whole">${last === undefined ? '–' : durationText(last.durationMs)}</span>`,
    html`${attempts.length}`,
    outcomeText(delivery),
    momentText(createdAt),
  ]
}

/** What follows, or why nothing does; empty for what was delivered. */
function outcomeText({ attempts, nextAttemptAt }: Delivery): Html {
  const failure = attempts.at(-1)?.explanation ?? null
  if (nextAttemptAt !== null) {
    return attempts.length === 0
      ? html`Waiting to be sent`
      : html`<span title="${failure ?? ''}">Retry ${dueText(nextAttemptAt)}</span>`
  }
  return failure === null
    ? html``
    : html`<span class="clip" title="${failure}">${withoutSubject(failure)}</span>`
}

/** The part that differs: every row is of the same endpoint, and the status has its own column. */
function withoutSubject(failure: string): string {
  const rest = failure.replace(/^The endpoint (answered \d+\. )?/, '')
  return `${rest.charAt(0).toUpperCase()}${rest.slice(1)}`
}
