import type { Health } from '#src/webhooks/health/health.ts'
import { type Html, html, timeText } from './html.ts'

const labels = {
  healthy: 'Active',
  retrying: 'Retrying',
  failing: 'Failing',
  recovering: 'Recovering',
  disabled: 'Disabled',
  paused: 'Paused',
} as const
export const healthMoods = {
  healthy: 'good',
  retrying: 'warning',
  failing: 'warning',
  recovering: 'warning',
  disabled: 'bad',
  paused: 'plainly',
} as const

/** The health of an endpoint, and since when if it is not healthy. */
export function healthBadge({ state, since }: Health): Html {
  return html`<span class="badge ${healthMoods[state]}">${labels[state]}</span>${
    state === 'healthy' ? '' : html` <span class="quiet whole">${timeText(since)}</span>`
  }`
}
