import { type Html, html, timeText } from '#src/pages/html.ts'
import { faultText, layout, noticeText, type Viewer } from '#src/pages/layout.ts'
import type { Delivery } from '#src/webhooks/delivery/deliveries.ts'
import type { Endpoint } from '#src/webhooks/endpoints/endpoints.ts'
import type { EndpointStats } from '#src/webhooks/endpoints/stats.ts'
import { endpointBadge } from './badges.ts'
import { attemptItem, type DeliveryPage, deliverySection } from './delivery.ts'
import {
  medianText,
  type NewSecret,
  newSecretSection,
  notices,
  rateText,
  sparkline,
  statsNote,
} from './endpoints.ts'
import { type EndpointDraft, endpointForm, type ReplayDraft, replayForm } from './forms.ts'

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

/** Everything one does to an endpoint but replay; what is seldom wanted is folded away. */
function endpointActions(
  { id, status }: Pick<Endpoint, 'id' | 'status'>,
  draft: EndpointDraft,
): Html {
  const path = `/app/webhooks/${id}`
  return html`<section class="card" aria-labelledby="actions">
        <h2 id="actions">Work on it</h2>
        <div class="row">
          ${status === 'active' ? '' : html`<form method="post" action="${path}/enable"><button class="button">Enable it</button></form>`}
          <form method="post" action="${path}/test"><button class="button${status === 'active' ? '' : ' plain'}">Send a test</button></form>
        </div>
        <p class="quiet small">A test is sent at once, also to a disabled endpoint, and counts neither for it nor against it.</p>
        <details${draft.urlFault === null ? '' : html` open`}>
          <summary>Change it</summary>
          ${endpointForm(draft, { action: path, label: 'Save the changes' })}
        </details>
        <details>
          <summary>Rotate the secret</summary>
          <form class="form" method="post" action="${path}/rotate">
            <label>The old secret signs too for
              <select name="overlapSeconds">
                <option value="0">no longer: it stops at once</option>
                <option value="3600">an hour</option>
                <option value="86400" selected>a day</option>
                <option value="604800">a week</option>
              </select>
            </label>
            <button class="button">Make a new secret</button>
          </form>
        </details>
        <details>
          <summary>Remove it</summary>
          <form class="form" method="post" action="${path}/remove">
            <label class="box"><input type="checkbox" name="confirm" value="yes" required> Yes, remove it with all its deliveries; nothing more is sent to it</label>
            <button class="button danger">Remove the endpoint</button>
          </form>
        </details>
      </section>`
}
