import Type from 'typebox'
import { choice, folded, formOf, renderForm, submission } from '#src/pages/kit/form.ts'
import { type ShownSecret, submissionField } from '#src/pages/kit/form-submission.ts'
import {
  copyable,
  copyButton,
  durationText,
  type Html,
  html,
  isolated,
  timeText,
} from '#src/pages/kit/html.ts'
import { faultText, layout, noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import type { Endpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import type { Delivery } from '#src/webhooks/history/deliveries.ts'
import type { EndpointStats } from '#src/webhooks/history/stats.ts'
import type { ProbeReport } from '#src/webhooks/probe/probe.ts'
import { testType } from '#src/webhooks/probe/test-event.ts'
import { endpointBadge } from './badges.ts'
import { attemptItem, type DeliveryPage, deliverySection } from './delivery.ts'
import { coverageText, dayCharts, notices, rateText } from './endpoints.ts'
import { endpointForm, profiles, renderEndpointForm, replayForm } from './forms.ts'
import { probeSection } from './probe.ts'

export type EndpointView = {
  viewer: Viewer
  endpoint: Endpoint
  stats: EndpointStats | undefined
  deliveries: DeliveryPage
  /** Types of events that the app has registered. */
  appTypes: readonly string[]
  /** The latest check of its receiver. */
  probe: ProbeReport | null
  done: string | undefined
  fault: string | null
  /** The delivery of the test event that was just sent. */
  test: Delivery | null
  /** A secret that was just created, with the time until which the old one signs as the note. */
  newSecret: ShownSecret | 'gone' | null
}

/** One endpoint: its health, deliveries and actions. */
export function endpointPage(view: EndpointView): Page {
  const { viewer, endpoint, test, newSecret } = view
  return layout(
    'Endpoint',
    html`<header class="headed">
        <div class="head">
          <p class="trail"><a href="/app/webhooks">Webhooks</a></p>
          <h1 class="wrap address">${isolated(endpoint.url)}</h1>
          ${endpoint.description === null ? '' : html`<p class="quiet wrap">${isolated(endpoint.description)}</p>`}
        </div>
        ${mainActions(endpoint, viewer)}
      </header>
      ${noticeText(notices, view.done)}
      ${faultText(view.fault)}
      ${newSecret === null ? '' : secretSection(newSecret, view.done)}
      ${test === null ? '' : testSection(test)}
      ${factSection(view)}
      ${deliverySection(endpoint.id, view.deliveries, view.appTypes)}
      ${probeSection(endpoint.id, view.probe)}
      ${replayForm(endpoint.id, { from: '', to: '', fault: null })}
      ${settingSection(view)}`,
    { current: '/app/webhooks', ...viewer },
  )
}

/** A new signing secret; shown only once. */
function secretSection(shown: ShownSecret | 'gone', done: string | undefined): Html {
  if (shown === 'gone') {
    return html`<p class="notice">The signing secret was shown already. If you did not copy it, rotate it.</p>`
  }
  return html`<section class="card notice" aria-labelledby="new-secret">
        <h2 id="new-secret">Signing secret</h2>
        <p>Copy it now. It is stored encrypted and cannot be shown again. ${done === 'rotated' ? overlapSentence(shown.note) : ''}</p>
        ${copyable('new-secret-text', 'Signing secret', 'secret', shown.secret)}
      </section>`
}

/** How long deliveries are also signed with the previous secret. */
function overlapSentence(expiresAt: string | null): Html {
  if (expiresAt === null) return html`The old secret is no longer used.`
  return html`Until ${timeText(expiresAt)} every delivery is also signed with the old secret.`
}

function testSection({ id, attempts }: Delivery): Html {
  return html`<section class="card" aria-labelledby="test">
        <h2 id="test">Test result</h2>
        <ol class="timeline">${attempts.map((attempt) => attemptItem(attempt))}</ol>
        <div class="row"><a href="/app/deliveries/${id}">View the request</a></div>
      </section>`
}

function factSection({ endpoint, stats }: EndpointView): Html {
  return html`<section class="card" aria-labelledby="facts">
        <h2 id="facts">Health</h2>
        <dl class="facts">
          <div><dt>Status</dt><dd>${endpointBadge(endpoint)}</dd></div>
          <div><dt>Success rate</dt><dd>${rateText(stats)}</dd></div>
          ${stats === undefined ? '' : html`<div><dt>Response time</dt><dd>${durationText(stats.medianMs)} <span class="quiet">median, ${durationText(stats.p95Ms)} 95th percentile</span></dd></div>`}
          <div><dt>Event types</dt><dd>${endpoint.eventTypes?.join(', ') ?? 'All'}</dd></div>
          <div><dt>Signature</dt><dd>${profiles[endpoint.signature]}</dd></div>
          <div><dt>Created</dt><dd>${timeText(endpoint.createdAt)}</dd></div>
          <div><dt>Endpoint ID</dt><dd class="wrap"><code id="endpoint-id">${endpoint.id}</code> ${copyButton('endpoint-id', 'Copy endpoint ID')}</dd></div>
        </dl>
        ${endpoint.health.reason === null ? '' : html`<p class="small">${isolated(endpoint.health.reason)}</p>`}
        ${endpoint.forecasts.map(({ message }) => html`<p class="notice">${isolated(message)}</p>`)}
        ${stats === undefined ? '' : dayCharts(stats)}
        ${coverageText(stats)}
      </section>`
}

const tested = eventTypes.toSorted((a, b) => Number(b === testType) - Number(a === testType))

export const testForm = formOf({
  submission,
  type: choice(Type.Optional(Type.Enum([...eventTypes])), 'Type of the test event', {
    options: Object.fromEntries(tested.map((type) => [type, type])),
  }),
})
export const rotateForm = formOf({
  submission,
  overlapSeconds: choice(Type.Enum(['0', '3600', '86400', '604800']), 'The old secret expires', {
    options: {
      '0': 'immediately',
      '3600': 'in 1 hour',
      '86400': 'in 1 day',
      '604800': 'in 1 week',
    },
  }),
})

/** Test events reach a disabled endpoint too, so both buttons can stand beside each other. */
function mainActions({ id, status }: Endpoint, viewer: Viewer): Html {
  const path = `/app/webhooks/${id}`
  const isActive = status === 'active'
  return html`<div class="row">
          ${isActive ? '' : html`<form method="post" action="${path}/enable"><button class="button">${status === 'disabled' ? 'Enable endpoint' : 'Mark as working again'}</button></form>`}
          ${renderForm(testForm, { viewer, action: `${path}/test`, inline: true }, ({ type }) => html`${type}<button class="button${isActive ? '' : ' plain'}" title="Sent immediately, even to a disabled endpoint, with example data. It does not affect the health.">Send test event</button>`)}
        </div>`
}

/** What is changed less often. */
function settingSection({ endpoint, viewer, appTypes }: EndpointView): Html {
  const path = `/app/webhooks/${endpoint.id}`
  const place = { viewer, action: path }
  const edit = renderEndpointForm(endpointForm, place, endpoint, 'Save changes', appTypes)
  const rotate = renderForm(
    rotateForm,
    { viewer, action: `${path}/rotate`, values: { overlapSeconds: '86400' } },
    ({ overlapSeconds }) => html`${overlapSeconds}<button class="button">Rotate secret</button>`,
  )
  return html`<section class="card" aria-labelledby="settings">
        <h2 id="settings">Settings</h2>
        ${folded('Edit endpoint', edit)}
        ${folded('Rotate signing secret', rotate)}
        <details>
          <summary>Delete endpoint</summary>
          <form class="form" method="post" action="${path}/remove">
            ${submissionField()}
            <label class="box"><input type="checkbox" name="confirm" value="yes" required> Delete this endpoint and all its deliveries. Nothing more is sent to it.</label>
            <button class="button danger">Delete endpoint</button>
          </form>
        </details>
      </section>`
}
