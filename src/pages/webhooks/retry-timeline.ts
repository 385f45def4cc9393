import { type Cell, durationText, type Html, html, momentText, table } from '#src/pages/html.ts'
import type { Delivery } from '#src/webhooks/delivery/deliveries.ts'

/** An attempt that was made, or one that follows. */
type Step = {
  number: number
  at: string
  /** Null before it is made. */
  result: { isGood: boolean; text: string; duration: string } | null
}

const width = 480
const height = 74
const middle = 34
const side = 46

/** The latest series of attempts with those that follow, where now is, and a countdown. */
export function retryTimeline(delivery: Delivery, retrySeconds: readonly number[]): Html {
  const made = madeSteps(delivery)
  const planned = plannedSteps(delivery, made, retrySeconds)
  const steps = [...made, ...planned]
  if (steps.length === 0) return html``
  const gap = steps.length === 1 ? 0 : (width - 2 * side) / (steps.length - 1)
  const xs = steps.map((_, index) => Math.round(side + index * gap))
  const points = steps.map((step, index) => point(step, xs[index] ?? 0))
  const next = planned[0]
  const words = `${made.length} made, ${planned.length} to follow if they fail`
  return html`<figure class="chart retries">
          <figcaption>Attempts in time ${next === undefined ? '' : html`<span class="quiet">Next attempt <time datetime="${next.at}" data-countdown>${momentOf(next.at)} UTC</time></span>`}</figcaption>
          <svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${words}"><line class="grid" x1="${xs[0] ?? side}" x2="${xs.at(-1) ?? side}" y1="${middle}" y2="${middle}"/>${next === undefined ? '' : nowMark(xs, made.length)}${points}</svg>
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

function point({ number, at, result }: Step, x: number): Html {
  const kind = result === null ? 'planned' : result.isGood ? 'good' : 'bad'
  const text = result?.text ?? `Attempt ${number}`
  return html`<g><title>${`Attempt ${number}, ${momentOf(at)} UTC: ${result?.text ?? 'to follow'}`}</title><circle class="${kind}" cx="${x}" cy="${middle}" r="6"/><text x="${x}" y="${middle + 20}" text-anchor="middle">${text}</text><text x="${x}" y="${middle + 32}" text-anchor="middle">${timeOf(at)}</text></g>`
}

/** Between the last attempt that was made and the next one. */
function nowMark(xs: readonly number[], made: number): Html {
  const after = xs[made] ?? side
  const x = made === 0 ? after - side / 2 : Math.round(((xs[made - 1] ?? side) + after) / 2)
  return html`<line class="now" x1="${x}" x2="${x}" y1="${middle - 16}" y2="${middle + 8}"/><text x="${x}" y="${middle - 20}" text-anchor="middle">now</text>`
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
