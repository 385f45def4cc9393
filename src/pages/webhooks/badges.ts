import { type Html, html, timeText } from '#src/pages/html.ts'
import type { DeliveryStatus } from '#src/webhooks/delivery/deliveries.ts'
import type { Endpoint } from '#src/webhooks/endpoints/endpoints.ts'
import type { EndpointStats } from '#src/webhooks/endpoints/stats.ts'

const endpointLabels = { active: 'Active', failing: 'Failing', disabled: 'Disabled' } as const
const endpointMoods = { active: 'good', failing: 'warning', disabled: 'bad' } as const

/**
 * The status of an endpoint, and since when it has been failing or disabled. An active endpoint none
 * of whose attempts succeeded is on its way to failing, which takes the whole retry schedule.
 * @param stats undefined if nothing was sent in the last 24 hours
 */
export function endpointBadge(
  { status, failingSince, disabledAt }: Endpoint,
  stats: EndpointStats | undefined,
): Html {
  if (status === 'active' && stats?.succeeded === 0) {
    return html`<span class="badge warning">${endpointLabels.active}</span> <span class="quiet">all attempts failed</span>`
  }
  const since = disabledAt ?? failingSince
  return html`<span class="badge ${endpointMoods[status]}">${endpointLabels[status]}</span>${
    since === null
      ? ''
      : html` <span class="quiet">since <span class="whole">${timeText(since)}</span></span>`
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
