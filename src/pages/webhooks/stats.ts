import { type Html, html } from '#src/pages/html.ts'
import { durationText } from '#src/pages/time.ts'
import { type EndpointStats, sampledDeliveries } from '#src/webhooks/endpoints/stats.ts'

/** Success rate and time to an answer; undefined where nothing was sent lately. */
export function rateText(stats: EndpointStats | undefined): Html {
  if (stats === undefined) return html`<span class="quiet whole">nothing sent</span>`
  const { attempts, succeeded } = stats
  const noun = attempts === 1 ? 'attempt' : 'attempts'
  return html`<strong class="whole">${percent(succeeded, attempts)}</strong> <span class="quiet whole">of ${attempts} ${noun}</span>`
}

export function medianText({ medianMs }: EndpointStats): Html {
  return html`<span class="quiet whole">median ${durationText(medianMs)}</span>`
}

/** What the numbers are of. */
export const statsNote = `Attempts of the last 24 hours, of the newest ${sampledDeliveries.toLocaleString('en-GB')} deliveries at most; tests are not counted.`

/** Rounded down, so that 100 % is said only where nothing failed. */
function percent(part: number, whole: number): string {
  return `${Math.floor((part / whole) * 1_000) / 10} %`
}
