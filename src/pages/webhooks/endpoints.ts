import type { OwnLedgerState } from '#src/ledger/last-check.ts'
import { ownLedgerText } from '#src/pages/billing/ledger.ts'
import { type StripCell, statusStrip } from '#src/pages/kit/charts.ts'
import { pageHead } from '#src/pages/kit/components.ts'
import { formPage } from '#src/pages/kit/form-page.ts'
import { healthBadge } from '#src/pages/kit/health.ts'
import { durationText, type Html, html, isolated, table, timeText } from '#src/pages/kit/html.ts'
import { baseOf, layout, noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { countLine } from '#src/pages/kit/list.ts'
import type { Endpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { type DayTally, talliedEvents } from '#src/webhooks/events/tally.ts'
import { type EndpointStats, sampledDeliveries } from '#src/webhooks/history/stats.ts'
import type { SignatureProfile } from '#src/webhooks/signing/signature.ts'
import { newEndpointForm, renderEndpointForm } from './forms.ts'

/** How often a delivery is attempted, and for how long an endpoint may take. */
export type RetryFacts = { readonly retrySeconds: readonly number[]; readonly timeoutMs: number }

export type WebhooksView = {
  viewer: Viewer
  endpoints: readonly Endpoint[]
  stats: ReadonlyMap<string, EndpointStats>
  days: readonly DayTally[]
  /** Null before the first check. */
  ledger: OwnLedgerState | null
  notifications: readonly { endpointId: string; message: string; createdAt: string }[]
  done: string | undefined
}

/** A tenant's webhook endpoints. */
export function webhooksPage(view: WebhooksView): Page {
  const { viewer, endpoints, stats, notifications } = view
  const path = `${baseOf(viewer)}/webhooks`
  return layout(
    'Webhooks',
    html`${pageHead({
      title: 'Webhooks',
      lead: 'Send signed events to your own servers.',
      actions: html`<a class="button" href="${path}/new">Add an endpoint</a>`,
    })}
      ${noticeText(notices, view.done)}
      <section class="card" aria-labelledby="endpoints">
        <h2 id="endpoints">Endpoints</h2>
        ${countLine({ rows: endpoints.length, more: false })}
        ${
          endpoints.length === 0
            ? html`<p class="quiet">No endpoints yet. Add one and send it a test event.</p>`
            : html`<div class="lead">${table(
                columns,
                endpoints.map((endpoint) => endpointRow(endpoint, stats.get(endpoint.id), path)),
              )}</div>
        <p class="quiet small">${statsNote}</p>`
        }
      </section>
      ${notifications.length === 0 ? '' : notificationSection(view)}
      ${view.days.length === 0 ? ownLedgerText(view.ledger) : daySection(view)}`,
    { current: '/app/webhooks', ...viewer },
  )
}

export type NewEndpointView = {
  viewer: Viewer
  /** Types of events that the app has registered. */
  appTypes: readonly string[]
  /** The profile that the form preselects. */
  signature: SignatureProfile
  schedule: RetryFacts
}

/** The form that adds an endpoint. */
export function newEndpointPage({ viewer, appTypes, signature, schedule }: NewEndpointView): Page {
  const facts = {
    ...{ url: '', description: null, eventTypes: null, signature },
    ...{ rateLimit: null, payload: 'full' as const, recoverWhenDisabled: false },
  }
  const path = `${baseOf(viewer)}/webhooks`
  const place = { viewer, action: `${path}/new` }
  return formPage({
    viewer,
    list: { href: path, label: 'Webhooks' },
    current: '/app/webhooks',
    heading: 'Add an endpoint',
    lead: `Events are sent as signed POST requests. ${scheduleText(schedule)}`,
    content: renderEndpointForm(newEndpointForm, place, facts, 'Add endpoint', appTypes),
  })
}

function scheduleText({ retrySeconds, timeoutMs }: RetryFacts): string {
  const retries = retrySeconds.length - 1
  const deadline = `Respond with a status from 200 to 299 within ${timeoutMs / 1_000} seconds`
  if (retries === 0) return `${deadline}. There are no retries.`
  return `${deadline}; otherwise we retry ${retries === 1 ? 'once' : `up to ${retries} times`}.`
}

const columns = [
  { label: 'Endpoint', kind: 'wrap' },
  { label: 'Status' },
  { label: 'Last 24 hours' },
  { label: 'Success rate' },
  { label: 'Response time' },
] as const

function endpointRow(endpoint: Endpoint, stats: EndpointStats | undefined, path: string): Html[] {
  const { id, url, description } = endpoint
  return [
    html`<a href="${path}/${id}">${isolated(url)}</a>${
      description === null ? '' : html`<br><span class="quiet">${isolated(description)}</span>`
    }`,
    healthBadge(endpoint.health),
    stats === undefined ? html`<span class="quiet">–</span>` : dayStrip(stats),
    rateText(stats),
    stats === undefined ? html`<span class="quiet">–</span>` : medianText(stats),
  ]
}

const notificationColumns = [
  { label: 'Time' },
  { label: 'Notification', kind: 'wrap' },
  { label: 'Endpoint' },
] as const

/** The notifications. Their messages name only the host of an endpoint; the link shows its path. */
function notificationSection({ viewer, notifications, endpoints }: WebhooksView): Html {
  const path = `${baseOf(viewer)}/webhooks`
  const rows = notifications.map(({ endpointId, message, createdAt }) => {
    const url = endpoints.find(({ id }) => id === endpointId)?.url ?? ''
    return [
      timeText(createdAt),
      isolated(message),
      html`<a class="clip" href="${path}/${endpointId}" title="${url}">${isolated(pathOf(url))}</a>`,
    ]
  })
  return html`<section class="card" aria-labelledby="notifications">
        <h2 id="notifications">Recent notifications</h2>
        ${table(notificationColumns, rows)}
      </section>`
}

/** What tells endpoints of one host apart. */
function pathOf(url: string): string {
  return URL.parse(url)?.pathname ?? 'View endpoint'
}

const dayColumns = [
  { label: 'Day (UTC)' },
  { label: 'Events', kind: 'number' },
  { label: 'Delivered', kind: 'number' },
  { label: 'Failed', kind: 'number' },
  { label: 'Retrying', kind: 'number' },
  { label: 'Waiting', kind: 'number' },
] as const
const lostColumn = { label: 'Not accounted for', kind: 'number' } as const

/** What became of the events of each day. */
function daySection({ days, ledger }: WebhooksView): Html {
  const unaccounted = days.reduce((sum, day) => sum + day.unaccounted, 0)
  const rows = days.map((day) => [
    html`<span class="whole">${day.day}</span>`,
    html`${day.events.toLocaleString('en-GB')}`,
    html`${day.succeeded.toLocaleString('en-GB')}`,
    html`${day.exhausted.toLocaleString('en-GB')}`,
    html`${day.retrying.toLocaleString('en-GB')}`,
    html`${day.waiting.toLocaleString('en-GB')}`,
    ...(unaccounted === 0 ? [] : [lostText(day)]),
  ])
  const shown = unaccounted === 0 ? dayColumns : [...dayColumns, lostColumn]
  return html`<section class="card" aria-labelledby="days">
        <h2 id="days">Last seven days</h2>
        ${ownLedgerText(ledger, unaccounted)}
        <div class="lead compact">${table(shown, rows)}</div>
        <p class="quiet small">At most the newest ${talliedEvents.toLocaleString('en-GB')} events, without test events.</p>
      </section>`
}

function lostText({ unaccounted }: DayTally): Html {
  return unaccounted === 0 ? html`0` : html`<strong class="fault">${unaccounted}</strong>`
}

/** Notices by the key in `?done=`. */
export const notices = {
  created: 'Endpoint added. Send it a test event with the button above.',
  changed: 'Saved. Pending deliveries use the new URL from their next attempt.',
  paused: 'Paused. Attempts that had begun are finished, and no other begins.',
  resumed: 'Resumed. What was held is sent now.',
  enabled: 'Enabled. New events are sent again; replay the deliveries you missed.',
  removed: 'Endpoint and its deliveries deleted.',
  rotated: 'Signing secret rotated.',
  tested: 'Test event sent. The response is below.',
  testing: 'This test event was already requested. Its delivery is on the tab Deliveries.',
  probed: 'The receiver was checked. The result is below.',
  probing: 'This check was already requested. Its result appears below.',
  replayed: 'Replay scheduled. Its attempts are listed separately.',
} as const
export type WebhookNotice = keyof typeof notices

/** The success rate. @param stats nothing if nothing was sent in the period */
export function rateText(stats: Attempts | null | undefined): Html {
  if (!stats) return html`<span class="quiet whole">No attempts</span>`
  const { attempts } = stats
  const noun = attempts === 1 ? 'attempt' : 'attempts'
  return html`<strong class="whole">${rateOf(stats)} %</strong> <span class="quiet whole">of ${attempts} ${noun}</span>`
}

type Attempts = Pick<EndpointStats, 'attempts' | 'succeeded'>

function medianText({ medianMs }: EndpointStats): Html {
  return html`<span class="quiet whole">median ${durationText(medianMs)}</span>`
}

const sampled = sampledDeliveries.toLocaleString('en-GB')

/** What the statistics of endpoints cover. */
const statsNote = `Attempts in the last 24 hours, for at most the newest ${sampled} deliveries of an endpoint. Test events are not counted.`

/** Rounded down, so that 100 % means that nothing failed. */
export function rateOf({ attempts, succeeded }: Attempts): number {
  return Math.floor((succeeded / attempts) * 1_000) / 10
}

const hoursShown = 24

/** The last day as one cell per hour: green, partly failed, failed, or grey without attempts. */
export function dayStrip({ hours, attempts, succeeded }: EndpointStats): Html {
  const cells = everyHour(hours).map((tally, at): StripCell => {
    const words = `${hourName(at)}: ${tally === null ? 'no attempts' : hourWords(tally)}`
    if (tally === null) return { mood: 'none', words }
    if (tally.succeeded === tally.attempts) return { mood: 'good', words }
    return { mood: tally.succeeded === 0 ? 'bad' : 'warning', words }
  })
  const failed = attempts - succeeded
  return statusStrip(`Last 24 hours: ${attempts} attempts, ${failed} failed`, cells)
}

type HourTally = EndpointStats['hours'][number]

/** All 24 hours, oldest first; null for one without attempts. */
function everyHour(hours: EndpointStats['hours']): (HourTally | null)[] {
  return Array.from(
    { length: hoursShown },
    (_, hour) => hours.find((tally) => tally.hour === hour) ?? null,
  )
}

/** @param at 23 is the hour that ends now */
export function hourName(at: number): string {
  const ago = hoursShown - at
  return ago === 1 ? 'Last hour' : `${ago} to ${ago - 1} hours ago`
}

function hourWords({ attempts, succeeded }: HourTally): string {
  return `${attempts} attempts, ${attempts - succeeded} failed`
}
