import { maxRangeDays } from '#src/outbound/replay-range.ts'
import { type Html, html } from '#src/pages/html.ts'

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
