import { stateLabels, stateMoods } from '#src/pages/kit/health.ts'
import { type Html, html } from '#src/pages/kit/html.ts'
import type { DeliveryCount } from '#src/webhooks/history/deliveries.ts'

/** The words for the statuses that filters choose among. */
export const deliveryLabels = {
  pending: 'Waiting or retrying',
  succeeded: stateLabels.succeeded,
  exhausted: stateLabels.exhausted,
} as const

/** The deliveries of an event by state. */
export function deliveryCounts(counts: readonly DeliveryCount[]): Html {
  if (counts.length === 0) return html`<span class="quiet">Not sent</span>`
  const badges = counts.map(
    ({ state, count }) =>
      html`<span class="badge ${stateMoods[state]}">${count} ${stateLabels[state].toLowerCase()}</span> `,
  )
  return html`${badges}`
}
