import Type from 'typebox'
import { OptionalLine } from '#src/http/schemas.ts'
import {
  confirmation,
  type Progress,
  progressBar,
  progressHead,
} from '#src/pages/kit/components.ts'
import {
  box,
  boxes,
  choice,
  chosen,
  formOf,
  line,
  type Place,
  type RenderedForm,
  renderForm,
  submission,
} from '#src/pages/kit/form.ts'
import { type Html, html, timeText } from '#src/pages/kit/html.ts'
import { baseOf, formToken, layout, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import type { MeantRange } from '#src/pages/kit/since.ts'
import { maxUrlLength } from '#src/webhooks/client/url.ts'
import type { EndpointFacts } from '#src/webhooks/endpoints/endpoints.ts'
import { Endpoint, EventTypeName, maxChosenTypes } from '#src/webhooks/endpoints/schemas.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import { type ReplayOutcome, readDeliveries } from '#src/webhooks/history/replay-outcome.ts'
import {
  type EndpointReplay,
  isReplayRange,
  maxRangeDays,
  type ReplayRange,
} from '#src/webhooks/history/replays.ts'
import { maxRate } from '#src/webhooks/schedule/rate-limit.ts'
import { deliveryLabels } from './badges.ts'

/** What each signature is, in words. */
export const profiles = {
  spec: 'Timestamp and body (our examples verify it)',
  standard: 'Standard Webhooks (its libraries verify it)',
  both: 'Both of them, while you change the receiver',
} as const

// From 1 to maxRate, or empty.
const Rate = Type.Optional(Type.String({ pattern: '^([1-9]\\d{0,2}|1000)?$' }))
const rate = { attributes: { type: 'number', min: 1, max: maxRate } }

const endpointFields = {
  // The URL guard validates it and explains what is wrong.
  url: line(Type.String(), 'URL', {
    required: true,
    attributes: { type: 'url', maxlength: maxUrlLength, placeholder: 'https://' },
  }),
  description: line(OptionalLine(500), 'Description (optional)'),
  eventTypes: boxes(
    Type.Optional(
      Type.Union([EventTypeName, Type.Array(EventTypeName, { maxItems: maxChosenTypes })]),
    ),
    'Event types (none selected: all, including future ones)',
  ),
  signature: choice(Endpoint.properties.signature, 'Signature', { options: profiles }),
  perSecond: line(Rate, 'Deliveries per second (empty: no limit)', rate),
  burst: line(Rate, 'At once after a quiet time', rate),
  payload: box('thin', 'Send only the id of an object, not its content'),
  recoverWhenDisabled: box('yes', 'Try it every 6 hours while it is disabled'),
}

export const endpointForm = formOf(endpointFields)
export const newEndpointForm = formOf({ submission, ...endpointFields })

/**
 * Renders either form.
 * @param label of its button
 * @param appTypes types of the app
 */
export function renderEndpointForm(
  form: typeof endpointForm | typeof newEndpointForm,
  place: Pick<Place<string>, 'viewer' | 'action'>,
  facts: EndpointFacts,
  label: string,
  appTypes: readonly string[],
): RenderedForm {
  const { eventTypes: types, rateLimit, payload, recoverWhenDisabled } = facts
  // `endpoint.test` is offered only if it was selected through the API.
  const own = eventTypes.filter((type) => type !== 'endpoint.test' || types?.includes(type))
  const offered = [...new Set([...own, ...appTypes, ...(types ?? [])])]
  const isUsual = rateLimit === null && payload === 'full' && !recoverWhenDisabled
  const values = {
    ...facts,
    perSecond: rateLimit?.perSecond,
    burst: rateLimit?.burst,
    recoverWhenDisabled: recoverWhenDisabled ? 'yes' : '',
  }
  return renderForm(
    form,
    { ...place, offered: { eventTypes: [offered] }, values },
    (
      inputs,
      isRefilled,
    ) => html`${inputs.url}${inputs.description}${inputs.eventTypes}${inputs.signature}
          <details${isUsual && !isRefilled ? '' : html` open`}>
            <summary>Rate, content and recovery</summary>
            <div class="pair">${inputs.perSecond}${inputs.burst}</div>
            ${inputs.payload}
            ${inputs.recoverWhenDisabled}
          </details>
          <button class="button">${label}</button>`,
  )
}

/** Converts form fields: an empty description is null, and no selected type means every type. */
export function readFields(fields: Type.Static<typeof endpointForm.schema>): EndpointFacts {
  const { url, description, eventTypes: types, signature, perSecond, burst, payload } = fields
  return {
    url: url.trim(),
    description: description.trim() === '' ? null : description,
    eventTypes: types === undefined ? null : chosen(types),
    signature,
    rateLimit: perSecond ? { perSecond: Number(perSecond), burst: Number(burst || '1') } : null,
    payload: payload ?? 'full',
    recoverWhenDisabled: fields.recoverWhenDisabled === 'yes',
  }
}

const dayMs = 86_400_000
const rangeMs = { hour: 3_600_000, day: dayMs, week: 7 * dayMs, all: maxRangeDays * dayMs }

// The format of <input type="datetime-local">; empty if not filled in.
const LocalTime = Type.String({
  pattern: '^(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,3})?)?)?$',
})

/** Fields of the replay form, and of the link to all deliveries that match a filter of the list. */
export const rangeFields = {
  range: Type.Optional(Type.Enum(['hour', 'day', 'week', 'all', ''])),
  from: Type.Optional(LocalTime),
  to: Type.Optional(LocalTime),
}

type Range = { range?: keyof typeof rangeMs | ''; from?: string; to?: string }

/** The requested range, or why it is not valid. A custom range (UTC) overrides the preset. */
export function readRange(
  { range = 'all', from = '', to = '' }: Range,
  now: Date,
): Pick<ReplayRange, 'from' | 'to'> | { fault: string } {
  if (from === '' && to === '') {
    return { from: new Date(now.getTime() - rangeMs[range || 'all']), to: now }
  }
  const custom = { from: new Date(`${from}Z`), to: new Date(`${to}Z`) }
  if (isReplayRange(custom.from, custom.to)) return custom
  return { fault: `Enter a start and a later end, at most ${maxRangeDays} days apart.` }
}

/** The ends of a custom range, as the form sends them; empty for the whole range. */
export type ReplayTimes = { readonly from?: string; readonly to?: string }

/** The custom range for the times of a list: it needs both ends, and has a longest length. */
export function replayTimesOf({ from, to }: MeantRange, now: Date): ReplayTimes {
  if (from === undefined && to === undefined) return {}
  const end = to === undefined ? now : new Date(to)
  const begin = from === undefined ? new Date(end.getTime() - rangeMs.all) : new Date(from)
  return { from: localTime(begin), to: localTime(end) }
}

function localTime(at: Date): string {
  return at.toISOString().replace('Z', '')
}

/** The custom range as entered, and why it was rejected. */
export type ReplayDraft = { from: string; to: string; fault: string | null }

/** The form to replay a preset or custom time range of deliveries. */
export function replayForm(
  viewer: Viewer,
  endpointId: string,
  { from, to, fault }: ReplayDraft,
): Html {
  return html`<section class="card" aria-labelledby="replay">
        <h2 id="replay">Replay deliveries</h2>
        <p class="quiet">Sends the same events with the same IDs, so receivers that deduplicate by ID do not process them twice.</p>
        <details${fault === null ? '' : html` open`}><summary>Choose their time</summary>
        <form class="form" method="get" action="${baseOf(viewer)}/webhooks/${endpointId}/replays/new">
          <label>Created in
            <select name="range">
              <option value="hour">the last hour</option>
              <option value="day" selected>the last day</option>
              <option value="week">the last week</option>
            </select>
          </label>
          <details${fault === null ? '' : html` open`}>
            <summary>Custom range</summary>
            <div class="pair">
              <label>From (UTC) <input type="datetime-local" step="any" name="from" value="${from}"></label>
              <label>To (UTC) <input type="datetime-local" step="any" name="to" value="${to}"></label>
            </div>
            <p class="quiet small">Overrides the selection above. At most ${maxRangeDays} days.</p>
          </details>
          ${fault === null ? '' : html`<p class="fault" role="alert">${fault}</p>`}
          <fieldset><legend>Deliveries</legend><div class="boxes">
            <label class="box"><input type="radio" name="status" value="exhausted" checked> Failed deliveries</label>
            <label class="box"><input type="radio" name="status" value=""> All deliveries, including successful ones</label>
          </div></fieldset>
          <button class="button">Count deliveries</button>
          <p class="quiet small">Their number is shown before anything is sent.</p>
        </form>
        </details>
      </section>`
}

/** Progress of a replay, for its page and the page's script. @param replay null: it was deleted */
export function progressOf(replay: EndpointReplay | null): Progress {
  if (replay === null) return { value: 1, max: 1, words: 'The endpoint was deleted.', isLast: true }
  const { done, total, finishedAt, cancelledAt } = replay
  const isLast = finishedAt !== null
  // <progress> needs max > 0, also for an empty range.
  const max = Math.max(total, 1)
  const words = `${done} of ${total} deliveries scheduled`
  if (cancelledAt !== null) {
    return { value: done, max, words: `Cancelled: ${words}. The rest is not sent.`, isLast }
  }
  return { value: isLast ? max : done, max, words: isLast ? `Done: ${words}.` : words, isLast }
}

/**
 * Progress page of a replay. Its script updates it live; without scripts the page reloads.
 * @param outcome null while deliveries are still being scheduled
 */
export function replayPage(
  viewer: Viewer,
  replay: EndpointReplay,
  outcome: ReplayOutcome | null,
): Page {
  const webhooks = `${baseOf(viewer)}/webhooks`
  const endpoint = `${webhooks}/${replay.endpointId}`
  const progress = progressOf(replay)
  return layout(
    'Replay',
    html`<header class="head">
        <p class="trail"><a href="${webhooks}">Webhooks</a> / <a href="${endpoint}">Endpoint</a></p>
        <h1>Replay</h1>
        <p class="quiet">${selectionText(replay)}</p>
      </header>
      <section class="card" aria-labelledby="progress">
        <h2 id="progress">Progress</h2>
        ${progressBar(progress, `${endpoint}/replays/${replay.id}/events`)}
        <p class="quiet small">Each delivery restarts the retry schedule from its first attempt. You can close this page; the replay continues.</p>
        <div class="row"><a class="button plain slim" href="${endpoint}/deliveries">View deliveries</a>${progress.isLast ? '' : cancelForm(viewer, replay)}</div>
      </section>
      ${outcome === null ? html`<p class="quiet small" data-outcome-follows>The outcome is shown when all deliveries are scheduled.</p>` : outcomeCard(outcome)}`,
    { current: '/app/webhooks', ...viewer },
    progressHead(progress),
  )
}

/** What became of the deliveries so far. */
function outcomeCard({ isPartial, ...counts }: ReplayOutcome): Html {
  const facts = (['succeeded', 'pending', 'exhausted'] as const).map(
    (status) => html`<div><dt>${deliveryLabels[status]}</dt><dd>${counts[status]}</dd></div>`,
  )
  const note = isPartial
    ? `Counted among the newest ${readDeliveries} deliveries of the time range.`
    : 'As it is now; a delivery that was replayed again since counts with its latest result.'
  return html`<section class="card" aria-labelledby="outcome">
        <h2 id="outcome">Outcome</h2>
        <dl class="facts">${facts}</dl>
        <p class="quiet small">${note}</p>
      </section>`
}

function selectionText(replay: EndpointReplay): Html {
  const { from, to, status, eventType, eventId, httpStatus, deliveryIds } = replay
  if (deliveryIds !== null) return html`Deliveries that were selected one by one.`
  const filters = [
    status === null ? 'any status' : `status ${deliveryLabels[status].toLowerCase()}`,
    ...(httpStatus === null ? [] : [`HTTP status ${httpStatus}`]),
    ...(eventType === null ? [] : [`type ${eventType}`]),
    ...(eventId === null ? [] : [`event ${eventId}`]),
  ]
  return html`Deliveries created from ${timeText(from)} to ${timeText(to)}, ${filters.join(', ')}.`
}

/** The script removes it when the replay ends. */
function cancelForm(viewer: Viewer, { endpointId, id }: EndpointReplay): Html {
  const form = confirmation({
    label: 'Cancel replay',
    action: `${baseOf(viewer)}/webhooks/${endpointId}/replays/${id}/cancel`,
    fields: html`${formToken(viewer)}<p>The deliveries that are not scheduled yet are not sent.</p>`,
    button: 'Cancel the replay',
  })
  return html`<div data-until-last>${form}</div>`
}
