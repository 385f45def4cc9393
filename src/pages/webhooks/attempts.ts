import { type Html, html } from '#src/pages/html.ts'
import { durationText, momentText } from '#src/pages/time.ts'
import type { Attempt } from '#src/webhooks/delivery/deliveries.ts'

/** Every attempt in the order they were made, the schedule and each replay under a name. */
export function attemptTimeline(attempts: readonly Attempt[]): Html {
  if (attempts.length === 0) return html`<p class="quiet">None was made yet.</p>`
  const series = [...Map.groupBy(attempts, (attempt) => attempt.series)]
  const parts = series.map(
    ([number, made]) => html`<h3>${number === 0 ? 'By the schedule' : `Replay ${number}`}</h3>
        <ol class="timeline">${made.map(attemptItem)}</ol>`,
  )
  return html`${parts}`
}

/** One attempt: when, how long, what came back, and why it failed. */
export function attemptItem(attempt: Attempt): Html {
  const { number, startedAt, durationMs, explanation, responseExcerpt } = attempt
  return html`<li>
            <p><span class="badge ${explanation === null ? 'good' : 'bad'}">${outcomeOf(attempt)}</span> Attempt ${number}, ${durationText(durationMs)} <span class="quiet">${momentText(startedAt)}</span></p>
            ${explanation === null ? '' : html`<p class="wrap">${explanation}</p>`}
            ${excerptOf(responseExcerpt)}
          </li>`
}

function outcomeOf({ statusCode }: Attempt): string {
  return statusCode === null ? 'No answer' : String(statusCode)
}

function excerptOf(excerpt: string | null): Html | string {
  if (excerpt === null) return ''
  if (excerpt === '') return html`<p class="quiet">The answer had no body.</p>`
  return html`<pre class="excerpt" tabindex="0" aria-label="Beginning of the answer"><code>${excerpt}</code></pre>`
}
