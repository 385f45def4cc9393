import { type Cell, durationText, type Html, html, momentText, table } from '#src/pages/kit/html.ts'
import type { Delivery } from '#src/webhooks/history/deliveries.ts'

/** An attempt that was made, or one that follows. */
type Step = {
  number: number
  at: string
  /** Null before it is made. */
  result: { isGood: boolean; text: string; duration: string } | null
}

/** The attempts of the latest series, made and planned, with a mark for now and a countdown. */
export function retryTimeline(delivery: Delivery, retrySeconds: readonly number[]): Html {
  const made = madeSteps(delivery)
  const planned = plannedSteps(delivery, made, retrySeconds)
  const steps = [...made, ...planned]
  if (steps.length === 0) return html``
  const next = planned[0]
  const items = [
    ...made.map(stepItem),
    ...(next === undefined ? [] : [html`<li class="now">now</li>`]),
    ...planned.map(stepItem),
  ]
  const words = `${made.length} made, ${planned.length} to follow if they fail`
  return html`<figure class="chart retries">
          <figcaption>Attempts in time ${next === undefined ? '' : html`<span class="quiet">Next attempt <time datetime="${next.at}" data-countdown>${momentOf(next.at)} UTC</time></span>`}</figcaption>
          <ol aria-label="${words}">${items}</ol>
          <details><summary>Show as a table</summary>${table(columns, steps.map(row))}</details>
        </figure>`
}

function madeSteps({ attempts }: Delivery): Step[] {
  const series = attempts.at(-1)?.series
  return attempts
    .filter((attempt) => attempt.series === series)
    .map(({ number, startedAt, statusCode, explanation, durationMs }) => ({
      number,
      at: startedAt,
      result: {
        isGood: explanation === null,
        text: statusCode === null ? 'No response' : String(statusCode),
        duration: durationText(durationMs),
      },
    }))
}

/** The next attempt, and those after it if each fails at once. */
function plannedSteps(
  { nextAttemptAt }: Delivery,
  made: readonly Step[],
  retrySeconds: readonly number[],
): Step[] {
  if (nextAttemptAt === null) return []
  const last = made.at(-1)
  // A replay begins again from the first attempt.
  const before =
    last?.result?.isGood === false && last.number < retrySeconds.length ? last.number : 0
  let at = Date.parse(nextAttemptAt)
  return retrySeconds.slice(before).map((seconds, index) => {
    if (index > 0) at += seconds * 1_000
    return { number: before + index + 1, at: new Date(at).toISOString(), result: null }
  })
}

function stepItem({ number, at, result }: Step): Html {
  const kind = result === null ? 'planned' : result.isGood ? 'good' : 'bad'
  const text = result?.text ?? `Attempt ${number}`
  return html`<li class="${kind}" title="${`Attempt ${number}, ${momentOf(at)} UTC: ${result?.text ?? 'to follow'}`}"><b>${text}</b><span class="quiet">${timeOf(at)}</span></li>`
}

const columns = [
  { label: 'Attempt', kind: 'number' },
  { label: 'Time' },
  { label: 'Result' },
  { label: 'Duration', kind: 'number' },
] as const

function row({ number, at, result }: Step): Cell[] {
  return [number, momentText(at), result?.text ?? 'To follow', result?.duration ?? '–']
}

function momentOf(at: string): string {
  return at.slice(0, 19).replace('T', ' ')
}

function timeOf(at: string): string {
  return at.slice(11, 19)
}
