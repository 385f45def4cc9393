import { type Html, html } from '#src/pages/kit/html.ts'
import type { DeliveryCount, DeliveryStatus } from '#src/webhooks/history/deliveries.ts'

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
