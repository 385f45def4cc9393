import Type from 'typebox'
import { type Html, html, timeText } from '#src/pages/html.ts'
import { layout, type Viewer } from '#src/pages/layout.ts'
import { type Progress, progressBar, progressHead } from '#src/pages/progress.ts'
import { deliveryStatuses } from '#src/webhooks/delivery/deliveries.ts'
import {
  type EndpointReplay,
  isReplayRange,
  maxRangeDays,
  type ReplayRange,
} from '#src/webhooks/delivery/replays.ts'
import type { EndpointFacts } from '#src/webhooks/endpoints/endpoints.ts'
import { Endpoint, EventTypeName } from '#src/webhooks/endpoints/schemas.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import { deliveryLabels } from './badges.ts'

/** The form as it stands: what was typed where it came back, and why it did. */
export type EndpointDraft = EndpointFacts & { urlFault: string | null }

const profiles = {
  spec: 'spec: signs time and body',
  standard: 'standard: as Standard Webhooks, for its libraries',
  both: 'both, one after the other',
} as const

type Button = { action: string; label: string }

/** The fields of an endpoint, to register one or to change it. */
export function endpointForm(draft: EndpointDraft, { action, label }: Button): Html {
  const { url, description, signature, urlFault } = draft
  return html`<form class="form" method="post" action="${action}">
          <label>URL <input type="url" name="url" required maxlength="2048" autocomplete="off" placeholder="https://" value="${url}"${
            urlFault === null
              ? ''
              : html` aria-invalid="true" aria-describedby="url-fault" autofocus`
          }></label>
          ${urlFault === null ? '' : html`<p class="fault" id="url-fault">${urlFault}</p>`}
          <label>Description (optional) <input name="description" maxlength="500" autocomplete="off" value="${description ?? ''}"></label>
          <fieldset><legend>Only these kinds of events (none ticked: all, and those to come)</legend>
            <div class="boxes">${kindBoxes(draft.eventTypes ?? [])}</div>
          </fieldset>
          <label>Signature <select name="signature">${profileOptions(signature)}</select></label>
          <button class="button">${label}</button>
        </form>`
}

/** The kind of the test button is offered only where it was chosen through the API. */
function kindBoxes(chosen: readonly string[]): readonly Html[] {
  return eventTypes
    .filter((kind) => kind !== 'endpoint.test' || chosen.includes(kind))
    .map((kind) => {
      const checked = chosen.includes(kind) ? html` checked` : ''
      return html`<label class="box"><input type="checkbox" name="eventTypes" value="${kind}"${checked}> ${kind}</label>`
    })
}

function profileOptions(chosen: EndpointFacts['signature']): readonly Html[] {
  return Object.entries(profiles).map(
    ([profile, words]) =>
      html`<option value="${profile}"${profile === chosen ? html` selected` : ''}>${words}</option>`,
  )
}

/** What the form of an endpoint sends. The URL is judged by the guard, which has words for it. */
export const EndpointFields = Type.Object(
  {
    url: Type.String(),
    description: Type.String({ maxLength: 500, pattern: '^[^\\p{Cc}\\p{Cs}]*$' }),
    // A form sends one checked box as a text, several as a list, none not at all.
    eventTypes: Type.Optional(
      Type.Union([EventTypeName, Type.Array(EventTypeName, { maxItems: eventTypes.length })]),
    ),
    signature: Endpoint.properties.signature,
  },
  { additionalProperties: false },
)

/** The facts of an endpoint as a form says them: an empty field is none, no kind is every kind. */
export function readFields(fields: Type.Static<typeof EndpointFields>): EndpointFacts {
  const { url, description, eventTypes: kinds, signature } = fields
  return {
    url: url.trim(),
    description: description.trim() === '' ? null : description,
    eventTypes: kinds === undefined ? null : [...new Set([kinds].flat())],
    signature,
  }
}

const rangeMs = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 }

// As a browser's field for date and time sends it, empty where it was not filled in.
const LocalTime = Type.String({ pattern: '^(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d)?)?$' })

/** What the form that sends a range again says. */
export const RangeFields = Type.Object(
  {
    range: Type.Enum(['hour', 'day', 'week']),
    from: LocalTime,
    to: LocalTime,
    status: Type.Enum(['', ...deliveryStatuses]),
  },
  { additionalProperties: false },
)

/** The range that is asked for, or why it is none. Times of one's own (UTC) go before the others. */
export function readRange(
  { range, from, to, status }: Type.Static<typeof RangeFields>,
  now: Date,
): ReplayRange | { fault: string } {
  const chosen = status === '' ? null : status
  if (from === '' && to === '') {
    return { from: new Date(now.getTime() - rangeMs[range]), to: now, status: chosen }
  }
  const own = { from: new Date(`${from}Z`), to: new Date(`${to}Z`) }
  if (isReplayRange(own.from, own.to)) return { ...own, status: chosen }
  return { fault: `Give both times, the later one second, at most ${maxRangeDays} days apart.` }
}

/** A range as it was typed, and why it came back. */
export type ReplayDraft = { from: string; to: string; fault: string | null }

/** Sends a range of deliveries again: one of the usual ranges, or times of one's own. */
export function replayForm(endpointId: string, { from, to, fault }: ReplayDraft): Html {
  return html`<section class="card" aria-labelledby="replay">
        <h2 id="replay">Send again</h2>
        <p class="quiet">The same events with the same ids. Receivers that remember ids take none of them twice.</p>
        <form class="form" method="post" action="/app/webhooks/${endpointId}/replay">
          <label>Made in
            <select name="range">
              <option value="hour">the last hour</option>
              <option value="day" selected>the last day</option>
              <option value="week">the last week</option>
            </select>
          </label>
          <details${fault === null ? '' : html` open`}>
            <summary>Or from a time to a time</summary>
            <div class="pair">
              <label>From, in UTC <input type="datetime-local" name="from" value="${from}"></label>
              <label>To, in UTC <input type="datetime-local" name="to" value="${to}"></label>
            </div>
            <p class="quiet small">Where these are given, they count. At most ${maxRangeDays} days.</p>
          </details>
          ${fault === null ? '' : html`<p class="fault" role="alert">${fault}</p>`}
          <fieldset><legend>Which of them</legend><div class="boxes">
            <label class="box"><input type="radio" name="status" value="exhausted" checked> those given up</label>
            <label class="box"><input type="radio" name="status" value=""> all, received ones too</label>
          </div></fieldset>
          <button class="button">Send them again</button>
        </form>
      </section>`
}

/** How far a replay has come, as its page and the script of it show it. Null: it was removed. */
export function progressOf(replay: EndpointReplay | null): Progress {
  if (replay === null) return { value: 1, max: 1, words: 'The endpoint was removed.', isLast: true }
  const { done, total, finishedAt } = replay
  const isLast = finishedAt !== null
  // An empty range is done as well.
  const max = Math.max(total, 1)
  const words = `${done} of ${total} put on their way`
  return { value: isLast ? max : done, max, words: isLast ? `Done: ${words}.` : words, isLast }
}

/** A replay while it is worked on: its script follows it, without one the page loads anew. */
export function replayPage(viewer: Viewer, replay: EndpointReplay): string {
  const endpoint = `/app/webhooks/${replay.endpointId}`
  const progress = progressOf(replay)
  return layout(
    'Sending again',
    html`<header class="head">
        <p class="trail"><a href="/app/webhooks">Webhooks</a> / <a href="${endpoint}">The endpoint</a></p>
        <h1>Sending again</h1>
        <p class="quiet">Deliveries made from ${timeText(replay.from)} to ${timeText(replay.to)}, ${
          replay.status === null ? 'in every state' : deliveryLabels[replay.status].toLowerCase()
        }.</p>
      </header>
      <section class="card" aria-labelledby="progress">
        <h2 id="progress">Progress</h2>
        ${progressBar(progress, `${endpoint}/replays/${replay.id}/events`)}
        <p class="quiet small">Each is attempted by the schedule from its first attempt on. This page may be closed; the work goes on.</p>
        <div class="row"><a class="button plain slim" href="${endpoint}#deliveries">See the deliveries</a></div>
      </section>`,
    { current: '/app/webhooks', ...viewer },
    progressHead(progress),
  )
}
