import { durationText, type Html, html, table, timeText } from '#src/pages/html.ts'
import { faultText, layout, noticeText, type Viewer } from '#src/pages/layout.ts'
import type { Endpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { type EndpointStats, sampledDeliveries } from '#src/webhooks/endpoints/stats.ts'
import { endpointBadge } from './badges.ts'
import { type EndpointDraft, endpointForm } from './forms.ts'

export type WebhooksView = {
  viewer: Viewer
  endpoints: readonly Endpoint[]
  stats: ReadonlyMap<string, EndpointStats>
  notifications: readonly { endpointId: string; message: string; createdAt: string }[]
  draft: EndpointDraft
  done: string | undefined
  /** Why none was made, where that is not about a field. */
  fault: string | null
  /** Of the endpoint that was just made. */
  newSecret: NewSecret | null
}

/** A tenant's webhook endpoints at a glance, and a form to register one. */
export function webhooksPage(view: WebhooksView): string {
  const { viewer, endpoints, stats, notifications, draft, newSecret } = view
  return layout(
    'Webhooks',
    html`<header class="head">
        <h1>Webhooks</h1>
        <p class="quiet">Where your events are sent, signed, and how that goes.</p>
      </header>
      ${noticeText(notices, view.done)}
      ${faultText(view.fault)}
      ${newSecret === null ? '' : newSecretSection(newSecret)}
      <section class="card" aria-labelledby="endpoints">
        <h2 id="endpoints">Endpoints</h2>
        ${
          endpoints.length === 0
            ? html`<p class="quiet">You have none. Register one below and send it a test.</p>`
            : html`<div class="lead">${table(
                columns,
                endpoints.map((endpoint) => endpointRow(endpoint, stats.get(endpoint.id))),
              )}</div>
        <p class="quiet small">${statsNote}</p>`
        }
      </section>
      ${notifications.length === 0 ? '' : notificationSection(notifications)}
      <section class="card" aria-labelledby="register">
        <h2 id="register">Register an endpoint</h2>
        <p class="quiet">Events are sent to it as signed POST requests. It answers with a status from 200 to 299 within ten seconds; else we try again four times.</p>
        ${endpointForm(draft, { action: '/app/webhooks', label: 'Register the endpoint' })}
      </section>`,
    { current: '/app/webhooks', ...viewer },
  )
}

const columns = [
  { label: 'Endpoint', kind: 'wrap' },
  { label: 'Status' },
  { label: 'Succeeded' },
  { label: 'Answers in' },
] as const

function endpointRow(endpoint: Endpoint, stats: EndpointStats | undefined): Html[] {
  const { id, url, description } = endpoint
  return [
    html`<a href="/app/webhooks/${id}">${url}</a>${
      description === null ? '' : html`<br><span class="quiet">${description}</span>`
    }`,
    endpointBadge(endpoint),
    rateText(stats),
    stats === undefined
      ? html`<span class="quiet">–</span>`
      : html`${sparkline(stats)} ${medianText(stats)}`,
  ]
}

function notificationSection(notifications: WebhooksView['notifications']): Html {
  const items = notifications.map(
    ({ endpointId, message, createdAt }) => html`<li>
            <p class="quiet">${timeText(createdAt)}</p>
            <p class="wrap">${message} <a href="/app/webhooks/${endpointId}">Look at it</a></p>
          </li>`,
  )
  return html`<section class="card" aria-labelledby="notifications">
        <h2 id="notifications">Notifications of late</h2>
        <ul class="plain-list">${items}</ul>
      </section>`
}

/** What can have been done, each with its sentence. */
export const notices = {
  changed: 'Saved. What is under way goes to the new URL from its next attempt.',
  enabled: 'Enabled. New events are sent again; replay what was missed.',
  removed: 'The endpoint is removed, with its deliveries.',
  tested: 'A test event was sent; its answer is below.',
  replayed: 'On its way again, with attempts of its own.',
} as const
export type WebhookNotice = keyof typeof notices

export type NewSecret = { secret: string; endpointId: string; url: string; note: Html | string }

/** A signing secret, this once. */
export function newSecretSection({ secret, endpointId, url, note }: NewSecret): Html {
  return html`<section class="card notice" aria-labelledby="new-secret">
        <h2 id="new-secret">The signing secret of your endpoint</h2>
        <p class="wrap"><a href="/app/webhooks/${endpointId}">${url}</a></p>
        <p>Copy it now: it is kept sealed and cannot be shown again. ${note}</p>
        <pre class="secret" tabindex="0" aria-label="Signing secret"><code>${secret}</code></pre>
      </section>`
}

/** How long the secret before goes on to sign. */
export function overlapSentence(expiresAt: string | null): Html {
  if (expiresAt === null) return html`The old one signs no more.`
  return html`Until ${timeText(expiresAt)} every delivery is signed with the old one too.`
}

/** Success rate and time to an answer; undefined where nothing was sent lately. */
export function rateText(stats: EndpointStats | undefined): Html {
  if (stats === undefined) return html`<span class="quiet whole">nothing sent</span>`
  const { attempts, succeeded } = stats
  const noun = attempts === 1 ? 'attempt' : 'attempts'
  return html`<strong class="whole">${percent(succeeded, attempts)}</strong> <span class="quiet whole">of ${attempts} ${noun}</span>`
}

export function medianText({ medianMs }: EndpointStats): Html {
  return html`<span class="quiet whole">median ${durationText(medianMs)}</span>`
}

/** What the numbers are of. */
export const statsNote = `Attempts of the last 24 hours, of the newest ${sampledDeliveries.toLocaleString('en-GB')} deliveries at most; tests are not counted.`

/** Rounded down, so that 100 % is said only where nothing failed. */
function percent(part: number, whole: number): string {
  return `${Math.floor((part / whole) * 1_000) / 10} %`
}

const hoursShown = 24
const slot = 6
const bar = 4
const height = 28
const lowest = 2

/**
 * The median time to an answer, hour by hour over the last day: one bar for each hour that had
 * attempts, marked where one of them failed. Drawn to the longest bar; the text alternative has
 * the numbers.
 */
export function sparkline({ hours }: EndpointStats): Html {
  const longest = Math.max(...hours.map(({ medianMs }) => medianMs), 1)
  const bars = hours.map(({ hour, medianMs, attempts, succeeded }) => {
    const tall = Math.max(lowest, Math.round((medianMs / longest) * height))
    const kind = succeeded === attempts ? 'well' : 'failed'
    return html`<rect class="${kind}" x="${hour * slot}" y="${height - tall}" width="${bar}" height="${tall}" rx="1"/>`
  })
  return html`<svg class="sparkline" viewBox="0 0 ${hoursShown * slot} ${height}" role="img" aria-label="${inWords(hours)}">${bars}</svg>`
}

function inWords(hours: EndpointStats['hours']): string {
  const medians = hours.map(({ medianMs }) => medianMs)
  const [least, most] = [Math.min(...medians), Math.max(...medians)].map(durationText)
  const failed = hours.filter(({ attempts, succeeded }) => succeeded < attempts).length
  const span = `Median time to an answer by hour, last 24 hours: ${least} to ${most}`
  return `${span}; ${failed} of ${hours.length} hours with failures.`
}
