import { type Html, html } from '#src/pages/html.ts'
import { layout } from '#src/pages/layout.ts'
import type { Viewer } from '#src/pages/navigation.ts'
import { faultText, noticeText } from '#src/pages/notice.ts'
import { timeText } from '#src/pages/time.ts'
import type { Delivery } from '#src/webhooks/delivery/deliveries.ts'
import type { Endpoint } from '#src/webhooks/endpoints/endpoints.ts'
import type { EndpointStats } from '#src/webhooks/endpoints/stats.ts'
import { attemptItem } from './attempts.ts'
import { endpointBadge } from './badges.ts'
import { type DeliveryPage, deliverySection } from './delivery-list.ts'
import { endpointActions } from './endpoint-actions.ts'
import type { EndpointDraft } from './forms.ts'
import { type NewSecret, newSecretSection, notices } from './notices.ts'
import { type ReplayDraft, replayForm } from './replay-form.ts'
import { sparkline } from './sparkline.ts'
import { medianText, rateText, statsNote } from './stats.ts'

export type EndpointView = {
  viewer: Viewer
  endpoint: Endpoint
  stats: EndpointStats | undefined
  deliveries: DeliveryPage
  draft: EndpointDraft
  replay: ReplayDraft
  done: string | undefined
  fault: string | null
  /** The delivery of a test that was just sent. */
  test: Delivery | null
  newSecret: NewSecret | null
}

/** One endpoint: how it does, what was sent to it, and everything one does about it. */
export function endpointPage(view: EndpointView): string {
  const { viewer, endpoint, test, newSecret } = view
  return layout(
    'Endpoint',
    html`<header class="head">
        <p class="trail"><a href="/app/webhooks">Webhooks</a></p>
        <h1 class="wrap address">${endpoint.url}</h1>
        ${endpoint.description === null ? '' : html`<p class="quiet wrap">${endpoint.description}</p>`}
      </header>
      ${noticeText(notices, view.done)}
      ${faultText(view.fault)}
      ${newSecret === null ? '' : newSecretSection(newSecret)}
      ${test === null ? '' : testSection(test)}
      ${factSection(view)}
      ${endpointActions(endpoint, view.draft)}
      ${deliverySection(endpoint.id, view.deliveries)}
      ${replayForm(endpoint.id, view.replay)}`,
    { current: '/app/webhooks', ...viewer },
  )
}

function testSection({ id, attempts }: Delivery): Html {
  return html`<section class="card" aria-labelledby="test">
        <h2 id="test">The answer to your test</h2>
        <ol class="timeline">${attempts.map(attemptItem)}</ol>
        <div class="row"><a href="/app/deliveries/${id}">What exactly was sent</a></div>
      </section>`
}

function factSection({ endpoint, stats }: EndpointView): Html {
  return html`<section class="card" aria-labelledby="facts">
        <h2 id="facts">How it does</h2>
        <dl class="facts">
          <div><dt>Status</dt><dd>${endpointBadge(endpoint)}</dd></div>
          <div><dt>Succeeded</dt><dd>${rateText(stats)}</dd></div>
          ${stats === undefined ? '' : html`<div><dt>Answers in</dt><dd>${sparkline(stats)} ${medianText(stats)}</dd></div>`}
          <div><dt>Kinds</dt><dd>${endpoint.eventTypes?.join(', ') ?? 'all'}</dd></div>
          <div><dt>Signature</dt><dd>${endpoint.signature}</dd></div>
          <div><dt>Registered</dt><dd>${timeText(endpoint.createdAt)}</dd></div>
        </dl>
        <p class="quiet small">${statsNote}</p>
      </section>`
}
