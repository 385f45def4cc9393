import Type from 'typebox'
import { confirmBox, tabs } from '#src/pages/kit/components.ts'
import { choice, formOf, renderForm, submission } from '#src/pages/kit/form.ts'
import { type ShownSecret, submissionField } from '#src/pages/kit/form-submission.ts'
import { healthBadge } from '#src/pages/kit/health.ts'
import {
  copyable,
  copyButton,
  durationText,
  type Html,
  html,
  isolated,
  timeText,
} from '#src/pages/kit/html.ts'
import {
  baseOf,
  faultText,
  formToken,
  layout,
  noticeText,
  type Page,
  type Viewer,
} from '#src/pages/kit/layout.ts'
import type { Endpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import type { Delivery } from '#src/webhooks/history/deliveries.ts'
import type { Period, PeriodStats } from '#src/webhooks/history/stats.ts'
import type { ProbeReport } from '#src/webhooks/probe/probe.ts'
import { testType } from '#src/webhooks/probe/test-event.ts'
import { attemptItem, type DeliveryPage, deliverySection } from './delivery.ts'
import { notices, rateText } from './endpoints.ts'
import { endpointForm, profiles, renderEndpointForm, replayForm } from './forms.ts'
import { coverageText, periodCharts, periodLinks } from './period-charts.ts'
import { probeSection } from './probe.ts'

/** What every page of an endpoint shows above its part. */
export type EndpointFrame = {
  viewer: Viewer
  endpoint: Endpoint
  done?: string | undefined
}

const tabLabels = {
  '': 'Overview',
  '/deliveries': 'Deliveries',
  '/settings': 'Settings',
  '/probe': 'Receiver check',
} as const

/** A page of an endpoint: its address and main actions, links to its parts, and one of them. */
function endpointPage(
  { viewer, endpoint, done }: EndpointFrame,
  tab: keyof typeof tabLabels,
  content: Html,
): Page {
  const webhooks = `${baseOf(viewer)}/webhooks`
  const path = `${webhooks}/${endpoint.id}`
  const items = Object.entries(tabLabels).map(([end, label]) => ({ href: path + end, label }))
  return layout(
    tab === '' ? 'Endpoint' : `Endpoint: ${tabLabels[tab].toLowerCase()}`,
    html`<header class="headed">
        <div class="head">
          <p class="trail"><a href="${webhooks}">Webhooks</a></p>
          <h1 class="wrap address">${isolated(endpoint.url)}</h1>
          ${endpoint.description === null ? '' : html`<p class="quiet wrap">${isolated(endpoint.description)}</p>`}
        </div>
        ${mainActions(endpoint, viewer)}
      </header>
      ${tabs('Endpoint', items, path + tab)}
      ${noticeText(notices, done)}
      ${content}`,
    { current: '/app/webhooks', ...viewer },
  )
}

/** A secret that was just created, with the time until which the old one signs as the note. */
export type NewSecret = ShownSecret | 'gone' | null

export type OverviewView = EndpointFrame & {
  period: Period
  /** Null if nothing was sent in the period. */
  stats: PeriodStats | null
  /** The delivery of the test event that was just sent. */
  test: Delivery | null
  newSecret: NewSecret
}

/** The health of an endpoint, and the result of a test. */
export function overviewPage(view: OverviewView): Page {
  const { viewer, test, newSecret, done } = view
  return endpointPage(
    view,
    '',
    html`${newSecret === null ? '' : secretSection(newSecret, done)}
      ${test === null ? '' : testSection(viewer, test)}
      ${factSection(view.endpoint)}
      ${chartSection(view)}`,
  )
}

export type DeliveriesView = EndpointFrame & {
  deliveries: DeliveryPage
  /** Types of events that the app has registered. */
  appTypes: readonly string[]
}

/** The deliveries of an endpoint, and what can be sent again. */
export function deliveriesPage(view: DeliveriesView): Page {
  const { viewer, endpoint, deliveries, appTypes } = view
  return endpointPage(
    view,
    '/deliveries',
    html`${deliverySection(viewer, endpoint.id, deliveries, appTypes)}
      ${replayForm(viewer, endpoint.id, { from: '', to: '', fault: null })}`,
  )
}

/** The latest check of the receiver. @param fault why it was not checked again */
export function probePage(
  view: EndpointFrame & { probe: ProbeReport | null; fault: string | null },
): Page {
  const { viewer, endpoint, probe, fault } = view
  return endpointPage(
    view,
    '/probe',
    html`${faultText(fault)}
      ${probeSection(viewer, endpoint.id, probe)}`,
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

function testSection(viewer: Viewer, { id, attempts }: Delivery): Html {
  return html`<section class="card" aria-labelledby="test">
        <h2 id="test">Test result</h2>
        <ol class="timeline">${attempts.map((attempt) => attemptItem(attempt))}</ol>
        <div class="row"><a href="${baseOf(viewer)}/deliveries/${id}">View the request</a></div>
      </section>`
}

function factSection(endpoint: Endpoint): Html {
  const { health, forecasts, eventTypes: types, signature, createdAt, id } = endpoint
  return html`<section class="card" aria-labelledby="facts">
        <h2 id="facts">Health</h2>
        <dl class="facts">
          <div><dt>Status</dt><dd>${healthBadge(endpoint.health)}</dd></div>
          <div><dt>Event types</dt><dd>${types?.join(', ') ?? 'All'}</dd></div>
          <div><dt>Signature</dt><dd>${profiles[signature]}</dd></div>
          <div><dt>Created</dt><dd>${timeText(createdAt)}</dd></div>
          <div><dt>Endpoint ID</dt><dd class="wrap"><code id="endpoint-id">${id}</code> ${copyButton('endpoint-id', 'Copy endpoint ID')}</dd></div>
        </dl>
        ${health.reason === null ? '' : html`<p class="small">${isolated(health.reason)}</p>`}
        ${forecasts.map(({ message }) => html`<p class="notice">${isolated(message)}</p>`)}
      </section>`
}

function chartSection({ viewer, endpoint, period, stats }: OverviewView): Html {
  const path = `${baseOf(viewer)}/webhooks/${endpoint.id}`
  return html`<section class="card" aria-labelledby="attempts">
        <div class="headed"><h2 id="attempts">Attempts</h2>${periodLinks(path, period)}</div>
        <dl class="facts">
          <div><dt>Success rate</dt><dd>${rateText(stats)}</dd></div>
          ${stats === null ? '' : html`<div><dt>Response time</dt><dd>${durationText(stats.medianMs)} <span class="quiet">median, ${durationText(stats.p95Ms)} 95th percentile</span></dd></div>`}
        </dl>
        ${stats === null ? '' : periodCharts(stats)}
        ${coverageText(period, stats)}
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

export const pauseForm = formOf({
  deliveries: choice(Type.Enum(['hold', 'drop']), 'Deliveries in the meantime', {
    options: { hold: 'wait until it is resumed', drop: 'are not sent (replay them later)' },
  }),
})

/** Test events reach a disabled or paused endpoint too, so both buttons can stand beside each other. */
function mainActions({ id, status }: Endpoint, viewer: Viewer): Html {
  const path = `${baseOf(viewer)}/webhooks/${id}`
  const isActive = status === 'active'
  const [way, label] =
    status === 'paused'
      ? ['resume', 'Resume endpoint']
      : ['enable', status === 'disabled' ? 'Enable endpoint' : 'Mark as working again']
  return html`<div class="row">
          ${isActive ? '' : html`<form method="post" action="${path}/${way}">${formToken(viewer)}<button class="button">${label}</button></form>`}
          ${renderForm(testForm, { viewer, action: `${path}/test`, inline: true }, ({ type }) => html`${type}<button class="button${isActive ? '' : ' plain'}" title="Sent immediately, even to a disabled or paused endpoint, with example data. It does not affect the health.">Send test event</button>`)}
        </div>`
}

export type SettingsView = EndpointFrame & {
  /** Types of events that the app has registered. */
  appTypes: readonly string[]
  newSecret: NewSecret
}

/** What is changed less often, each with its form. */
export function settingsPage(view: SettingsView): Page {
  const { endpoint, viewer, appTypes, newSecret, done } = view
  const path = `${baseOf(viewer)}/webhooks/${endpoint.id}/settings`
  const place = { viewer, action: path }
  const edit = renderEndpointForm(endpointForm, place, endpoint, 'Save changes', appTypes)
  const rotate = renderForm(
    rotateForm,
    { viewer, action: `${path}/rotate`, values: { overlapSeconds: '86400' } },
    ({ overlapSeconds }) => html`${overlapSeconds}<button class="button">Rotate secret</button>`,
  )
  return endpointPage(
    view,
    '/settings',
    html`${newSecret === null ? '' : secretSection(newSecret, done)}
      <section class="card" aria-labelledby="edit">
        <h2 id="edit">Edit endpoint</h2>
        ${edit}
      </section>
      ${endpoint.status === 'paused' ? '' : pauseSection(viewer, path)}
      <section class="card" aria-labelledby="rotate">
        <h2 id="rotate">Rotate signing secret</h2>
        ${rotate}
      </section>
      <section class="card" aria-labelledby="delete">
        <h2 id="delete">Delete endpoint</h2>
        <form class="form" method="post" action="${path}/remove">
          ${formToken(viewer)}${submissionField()}
          ${confirmBox('Delete this endpoint and all its deliveries. Nothing more is sent to it.')}
          <button class="button danger">Delete endpoint</button>
        </form>
      </section>`,
  )
}

function pauseSection(viewer: Viewer, path: string): Html {
  const pause = renderForm(
    pauseForm,
    { viewer, action: `${path}/pause`, values: { deliveries: 'hold' } },
    ({ deliveries }) => html`${deliveries}<button class="button">Pause endpoint</button>`,
  )
  return html`<section class="card" aria-labelledby="pause">
        <h2 id="pause">Pause endpoint</h2>
        ${pause}
      </section>`
}
