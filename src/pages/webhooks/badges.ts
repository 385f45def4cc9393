import { type Html, html, timeText } from '#src/pages/kit/html.ts'
import type { Endpoint } from '#src/webhooks/endpoints/endpoints.ts'
import type { DeliveryCount, DeliveryStatus } from '#src/webhooks/history/deliveries.ts'

const healthLabels = {
  healthy: 'Active',
  retrying: 'Retrying',
  failing: 'Failing',
  recovering: 'Recovering',
  disabled: 'Disabled',
  paused: 'Paused',
} as const
const healthMoods = {
  healthy: 'good',
  retrying: 'warning',
  failing: 'warning',
  recovering: 'warning',
  disabled: 'bad',
  paused: 'plainly',
} as const

/** The health of an endpoint, and since when if it is not healthy. */
export function endpointBadge({ health: { state, since } }: Pick<Endpoint, 'health'>): Html {
  return html`<span class="badge ${healthMoods[state]}">${healthLabels[state]}</span>${
    state === 'healthy' ? '' : html` <span class="quiet whole">${timeText(since)}</span>`
  }`
}

export const deliveryLabels = {
  pending: 'Pending',
  succeeded: 'Delivered',
  exhausted: 'Failed',
} as const
const deliveryMoods = { pending: 'plainly', succeeded: 'good', exhausted: 'bad' } as const

export function deliveryBadge(status: DeliveryStatus): Html {
  return html`<span class="badge ${deliveryMoods[status]}">${deliveryLabels[status]}</span>`
}

/** The deliveries of an event by status. */
export function deliveryCounts(counts: readonly DeliveryCount[]): Html {
  if (counts.length === 0) return html`<span class="quiet">Not sent</span>`
  const badges = counts.map(
    ({ status, count }) =>
      html`<span class="badge ${deliveryMoods[status]}">${count} ${deliveryLabels[status].toLowerCase()}</span> `,
  )
  return html`${badges}`
}
