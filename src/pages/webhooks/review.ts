import Type from 'typebox'
import { OptionalLine, Time, Uuid, uuidForm } from '#src/http/schemas.ts'
import { submissionField, submissionFields } from '#src/pages/kit/form-submission.ts'
import { type Html, html, isolated, timeText } from '#src/pages/kit/html.ts'
import {
  baseOf,
  faultText,
  formToken,
  layout,
  type Page,
  type Viewer,
} from '#src/pages/kit/layout.ts'
import { type Endpoint, isIdle } from '#src/webhooks/endpoints/endpoints.ts'
import { EventTypeName } from '#src/webhooks/endpoints/schemas.ts'
import {
  countedDeliveries,
  type DeliveryTotal,
  deliveryStatuses,
} from '#src/webhooks/history/deliveries.ts'
import { httpStatusPattern } from '#src/webhooks/history/filter.ts'
import {
  isReplayRange,
  maxSelected,
  type ReplayRange,
  type ReplaySelection,
} from '#src/webhooks/history/replays.ts'
import { deliveryLabels } from './badges.ts'
import { type ReplayDraft, replayForm } from './forms.ts'

/** The filters of the list, which its form sends even if they are empty. */
export const filterFields = {
  status: Type.Optional(Type.Enum(['', ...deliveryStatuses])),
  eventType: Type.Optional(Type.Union([Type.Literal(''), EventTypeName])),
  // `|^$`: a form also sends its empty fields.
  httpStatus: Type.Optional(Type.String({ maxLength: 4, pattern: `${httpStatusPattern}|^$` })),
  /** The id of an event or of a delivery. */
  event: Type.Optional(OptionalLine(64)),
}

/** One row is sent as a string, several as an array. */
const Selected = Type.Optional(Type.Union([Uuid, Type.Array(Uuid, { maxItems: maxSelected })]))

export const selectedField = { delivery: Selected }

/** Fields of the confirmation: what was counted, and nothing else, is sent. */
export const ConfirmedFields = Type.Object(
  {
    ...submissionFields,
    ...filterFields,
    ...selectedField,
    from: Type.Optional(Time),
    to: Type.Optional(Time),
  },
  { additionalProperties: false },
)

type Confirmed = Type.Static<typeof ConfirmedFields>

type Filters = Pick<Confirmed, 'status' | 'eventType' | 'httpStatus' | 'event'>

/** The filters of a query or a form as those of a list. */
export function selectionOf({ status, eventType, httpStatus, event = '' }: Filters) {
  const id = event.trim()
  return {
    status: status || undefined,
    eventType: eventType || undefined,
    httpStatus: httpStatus || undefined,
    eventId: isUuid(id) ? undefined : id || undefined,
    ids: isUuid(id) ? [id] : undefined,
  }
}

function isUuid(text: string): boolean {
  return uuidForm.test(text)
}

/** What the confirmation selects; null if it is none that the page has rendered. */
export function readConfirmed(fields: Confirmed): ReplaySelection | null {
  const { delivery, from, to } = fields
  const { ids, ...filters } = selectionOf(fields)
  if (delivery !== undefined) return { ids: [delivery].flat() }
  if (ids !== undefined) return { ids }
  if (from === undefined || to === undefined) return null
  const range: ReplayRange = { ...filters, from: new Date(from), to: new Date(to) }
  return isReplayRange(range.from, range.to) ? range : null
}

export type ReviewView = {
  viewer: Viewer
  endpoint: Endpoint
  selection: ReplaySelection
  /** How many deliveries it selects now. */
  total: DeliveryTotal
  /** Why the replay was not started. */
  fault: string | null
}

/** Confirmation page of a bulk replay: how many deliveries it will resend. Works without scripts. */
export function reviewPage({ viewer, endpoint, selection, total, fault }: ReviewView): Page {
  const webhooks = `${baseOf(viewer)}/webhooks`
  const amount = amountOf(total)
  const isEmpty = total.count === 0 && !total.isPartial
  return layout(
    `Replay ${amount}`,
    html`${head(webhooks, endpoint, `Replay ${amount}?`)}
      ${faultText(fault)}
      <section class="card" aria-labelledby="selection">
        <h2 id="selection">Selection</h2>
        <dl class="facts">${facts(selection)}</dl>
        ${notice(webhooks, endpoint, isEmpty)}
        ${total.isPartial ? html`<p class="quiet small">Counted among the newest ${counted} deliveries of the time range. All that match are sent.</p>` : ''}
        <div class="row">${isEmpty || isIdle(endpoint) ? '' : confirmForm(viewer, endpoint, selection, amount)}<a class="button plain" href="${webhooks}/${endpoint.id}/deliveries">Back to the deliveries</a></div>
      </section>`,
    { current: '/app/webhooks', ...viewer },
  )
}

const counted = countedDeliveries.toLocaleString('en-GB')

function amountOf({ count, isPartial }: DeliveryTotal): string {
  if (count > countedDeliveries) return `more than ${counted} deliveries`
  const amount = count === 1 ? '1 delivery' : `${count.toLocaleString('en-GB')} deliveries`
  if (!isPartial) return amount
  return count === 0 ? 'the deliveries that match' : `at least ${amount}`
}

/** A range that is none, in the form that it was typed into. */
export function rangePage(viewer: Viewer, endpoint: Endpoint, draft: ReplayDraft): Page {
  return layout(
    'Replay deliveries',
    html`${head(`${baseOf(viewer)}/webhooks`, endpoint, 'Replay deliveries')}
      ${replayForm(viewer, endpoint.id, draft)}`,
    { current: '/app/webhooks', ...viewer },
  )
}

function head(webhooks: string, { id, url }: Endpoint, title: string): Html {
  return html`<header class="head">
        <p class="trail wrap"><a href="${webhooks}">Webhooks</a> / <a href="${webhooks}/${id}">${isolated(url)}</a></p>
        <h1>${title}</h1>
        <p class="quiet">The same events with the same IDs are sent again, so receivers that deduplicate by ID do not process them twice.</p>
      </header>`
}

function notice(webhooks: string, endpoint: Endpoint, isEmpty: boolean): Html {
  if (isEmpty) return html`<p class="notice">No delivery matches, so there is nothing to send.</p>`
  if (isIdle(endpoint)) {
    const { id, status } = endpoint
    return html`<p class="notice fault" role="alert">The endpoint is ${status}. <a href="${webhooks}/${id}">${status === 'paused' ? 'Resume' : 'Enable'} the endpoint</a> first, then replay these deliveries.</p>`
  }
  return html`<p class="quiet small">Each delivery restarts the retry schedule from its first attempt. The replay can be cancelled while it runs.</p>`
}

function confirmForm(
  viewer: Viewer,
  { id }: Endpoint,
  selection: ReplaySelection,
  amount: string,
): Html {
  return html`<form method="post" action="${baseOf(viewer)}/webhooks/${id}/replays">${formToken(viewer)}${submissionField()}${hiddenFields(selection)}<button class="button">Replay ${amount}</button></form>`
}

function facts(selection: ReplaySelection): readonly Html[] {
  if ('ids' in selection) {
    return [html`<div><dt>Deliveries</dt><dd>Selected one by one</dd></div>`]
  }
  const { from, to, status, eventType, eventId, httpStatus } = selection
  return [
    html`<div><dt>Created from</dt><dd>${timeText(from.toISOString())}</dd></div>`,
    html`<div><dt>Created before</dt><dd>${timeText(to.toISOString())}</dd></div>`,
    html`<div><dt>Status</dt><dd>${status ? deliveryLabels[status] : 'Any'}</dd></div>`,
    ...(eventType ? [html`<div><dt>Event type</dt><dd>${eventType}</dd></div>`] : []),
    ...(httpStatus ? [html`<div><dt>HTTP status</dt><dd>${httpStatus}</dd></div>`] : []),
    ...(eventId ? [html`<div><dt>Event ID</dt><dd class="wrap">${eventId}</dd></div>`] : []),
  ]
}

function hiddenFields(selection: ReplaySelection): readonly Html[] {
  const hidden = (name: string, value: string) =>
    html`<input type="hidden" name="${name}" value="${value}">`
  if ('ids' in selection) return selection.ids.map((id) => hidden('delivery', id))
  const { from, to, status, eventType, eventId, httpStatus } = selection
  return [
    hidden('from', from.toISOString()),
    hidden('to', to.toISOString()),
    ...(status ? [hidden('status', status)] : []),
    ...(eventType ? [hidden('eventType', eventType)] : []),
    ...(httpStatus ? [hidden('httpStatus', httpStatus)] : []),
    ...(eventId ? [hidden('event', eventId)] : []),
  ]
}
