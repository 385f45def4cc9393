import type { SentRequest } from '#src/outbound/sent-request.ts'
import { type Html, html } from '#src/pages/html.ts'
import { layout } from '#src/pages/layout.ts'
import type { Viewer } from '#src/pages/navigation.ts'
import { noticeText } from '#src/pages/notice.ts'
import { momentText } from '#src/pages/time.ts'
import type { Delivery } from '#src/webhooks/delivery/deliveries.ts'
import { attemptTimeline } from './attempts.ts'
import { deliveryBadge } from './badges.ts'
import { notices } from './notices.ts'

export type DeliveryView = {
  viewer: Viewer
  delivery: Delivery
  sent: SentRequest
  done: string | undefined
  /** Whether it was refused to send it again, because its endpoint is disabled. */
  isDisabled: boolean
}

/** One event on its way to one endpoint: what was sent, what came back, and why. */
export function deliveryPage(view: DeliveryView): string {
  const { viewer, delivery, sent } = view
  const endpoint = `/app/webhooks/${delivery.endpointId}`
  return layout(
    'Delivery',
    html`<header class="head">
        <p class="trail wrap"><a href="/app/webhooks">Webhooks</a> / <a href="${endpoint}">${sent.url}</a></p>
        <h1>${delivery.eventType}</h1>
      </header>
      ${noticeText(notices, view.done)}
      ${view.isDisabled ? disabledNotice(endpoint) : ''}
      <section class="card" aria-labelledby="facts">
        <h2 id="facts">What became of it</h2>
        <dl class="facts">
          <div><dt>Status</dt><dd>${deliveryBadge(delivery.status)}</dd></div>
          <div><dt>Made</dt><dd>${momentText(delivery.createdAt)}</dd></div>
          ${delivery.nextAttemptAt === null ? '' : html`<div><dt>Next attempt</dt><dd>${momentText(delivery.nextAttemptAt)}</dd></div>`}
          <div><dt>Event id</dt><dd class="wrap"><code>${delivery.eventId}</code></dd></div>
        </dl>
        <form class="row" method="post" action="/app/deliveries/${delivery.id}/replay"><button class="button">Send it again</button></form>
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
  return html`<p class="notice fault" role="alert">The endpoint is disabled, so nothing was sent. <a href="${endpoint}#actions">Enable it</a> first, then send this again.</p>`
}

function requestSection({ url, headers, body }: SentRequest): Html {
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  return html`<section class="card" aria-labelledby="request">
        <h2 id="request">What we send</h2>
        <pre class="excerpt" tabindex="0" aria-label="Headers of the request"><code>${[`POST ${url}`, ...lines].join('\n')}</code></pre>
        <pre class="excerpt" tabindex="0" aria-label="Body of the request"><code>${body}</code></pre>
        <p class="quiet small">The body is shown as it is signed, to the byte; each attempt has a time and a signature of its own.</p>
      </section>`
}
