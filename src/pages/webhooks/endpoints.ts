import { type Html, html } from '#src/pages/html.ts'
import { layout } from '#src/pages/layout.ts'
import type { Viewer } from '#src/pages/navigation.ts'
import { faultText, noticeText } from '#src/pages/notice.ts'
import { table } from '#src/pages/table.ts'
import { timeText } from '#src/pages/time.ts'
import type { Endpoint } from '#src/webhooks/endpoints/endpoints.ts'
import type { EndpointStats } from '#src/webhooks/endpoints/stats.ts'
import { endpointBadge } from './badges.ts'
import { type EndpointDraft, endpointForm } from './forms.ts'
import { type NewSecret, newSecretSection, notices } from './notices.ts'
import { sparkline } from './sparkline.ts'
import { medianText, rateText, statsNote } from './stats.ts'

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
