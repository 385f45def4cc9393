import { type Html, html } from '#src/pages/html.ts'
import { durationText } from '#src/pages/time.ts'
import type { EndpointStats } from '#src/webhooks/endpoints/stats.ts'

const hoursShown = 24
const slot = 6
const bar = 4
const height = 28
const lowest = 2

/**
 * The median time to an answer, hour by hour over the last day: one bar for each hour that had
 * attempts, marked where one of them failed. Drawn to the longest bar; the text alternative has
 * the numbers.
 */
export function sparkline({ hours }: EndpointStats): Html {
  const longest = Math.max(...hours.map(({ medianMs }) => medianMs), 1)
  const bars = hours.map(({ hour, medianMs, attempts, succeeded }) => {
    const tall = Math.max(lowest, Math.round((medianMs / longest) * height))
    const kind = succeeded === attempts ? 'well' : 'failed'
    return html`<rect class="${kind}" x="${hour * slot}" y="${height - tall}" width="${bar}" height="${tall}" rx="1"/>`
  })
  return html`<svg class="sparkline" viewBox="0 0 ${hoursShown * slot} ${height}" role="img" aria-label="${inWords(hours)}">${bars}</svg>`
}

function inWords(hours: EndpointStats['hours']): string {
  const medians = hours.map(({ medianMs }) => medianMs)
  const [least, most] = [Math.min(...medians), Math.max(...medians)].map(durationText)
  const failed = hours.filter(({ attempts, succeeded }) => succeeded < attempts).length
  const span = `Median time to an answer by hour, last 24 hours: ${least} to ${most}`
  return `${span}; ${failed} of ${hours.length} hours with failures.`
}
