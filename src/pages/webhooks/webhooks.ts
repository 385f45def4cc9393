import type { EndpointStats } from '#src/outbound/endpoint-stats.ts'
import type { Endpoint } from '#src/outbound/endpoints.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import { timeText } from '../time.ts'
import { endpointBadge } from './badges.ts'
import { type EndpointDraft, endpointForm } from './endpoint-form.ts'
import { faultText, type NewSecret, newSecretSection, noticeText } from './notices.ts'
import { sparkline } from './sparkline.ts'
import { medianText, rateText, statsNote } from './stats.ts'

export type WebhooksView = {
  role: string | null
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
  const { role, endpoints, stats, notifications, draft, newSecret } = view
  return layout(
    'Webhooks',
    html`<header class="head">
        <h1>Webhooks</h1>
        <p class="quiet">Where your events are sent, signed, and how that goes.</p>
      </header>
      ${noticeText(view.done)}
      ${faultText(view.fault)}
      ${newSecret === null ? '' : newSecretSection(newSecret)}
      <section class="card" aria-labelledby="endpoints">
        <h2 id="endpoints">Endpoints</h2>
        ${endpoints.length === 0 ? html`<p class="quiet">You have none. Register one below and send it a test.</p>` : endpointTable(endpoints, stats)}
      </section>
      ${notifications.length === 0 ? '' : notificationSection(notifications)}
      <section class="card" aria-labelledby="register">
        <h2 id="register">Register an endpoint</h2>
        <p class="quiet">Events are sent to it as signed POST requests. It answers with a status from 200 to 299 within ten seconds; else we try again four times.</p>
        ${endpointForm(draft, { action: '/app/webhooks', label: 'Register the endpoint' })}
      </section>`,
    { current: '/app/webhooks', role },
  )
}

function endpointTable(endpoints: readonly Endpoint[], all: WebhooksView['stats']): Html {
  const rows = endpoints.map((endpoint) => {
    const stats = all.get(endpoint.id)
    return html`<tr>
            <td class="wrap"><a href="/app/webhooks/${endpoint.id}">${endpoint.url}</a>${
              endpoint.description === null
                ? ''
                : html`<br><span class="quiet">${endpoint.description}</span>`
            }</td>
            <td>${endpointBadge(endpoint)}</td>
            <td>${rateText(stats)}</td>
            <td>${stats === undefined ? '' : html`${sparkline(stats)} ${medianText(stats)}`}</td>
          </tr>`
  })
  return html`<div class="scroll lead"><table>
          <thead><tr><th scope="col">Endpoint</th><th scope="col">Status</th><th scope="col">Succeeded</th><th scope="col">Time to an answer</th></tr></thead>
          <tbody>${rows}</tbody>
        </table></div>
        <p class="quiet small">${statsNote}</p>`
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
