import type { Health } from '#src/webhooks/health/health.ts'
import type { DeliveryHealth } from '#src/webhooks/history/deliveries.ts'
import { type Html, html, timeText } from './html.ts'

/** The word for each state of an endpoint and of a delivery, the same on every page. */
export const stateLabels = {
  healthy: 'Healthy',
  waiting: 'Waiting',
  succeeded: 'Delivered',
  retrying: 'Retrying',
  recovering: 'Recovering',
  paused: 'Paused',
  failing: 'Failing',
  exhausted: 'Failed',
  disabled: 'Disabled',
} as const
export const stateMoods = {
  healthy: 'good',
  waiting: 'plainly',
  succeeded: 'good',
  retrying: 'warning',
  recovering: 'warning',
  paused: 'plainly',
  failing: 'bad',
  exhausted: 'bad',
  disabled: 'bad',
} as const
export type State = keyof typeof stateLabels

/** The health of an endpoint: how many deliveries are retried, and since when if it is not healthy. */
export function healthBadge({ state, since, retrying }: Health): Html {
  const deliveries = retrying === 1 ? '1 delivery' : `${retrying} deliveries`
  const count = retrying === 0 ? '' : state === 'retrying' ? deliveries : `${deliveries} retrying`
  return html`${badge(state)}${count === '' ? '' : html` <span class="quiet whole">${count}</span>`}${
    state === 'healthy' ? '' : html` <span class="quiet whole">began ${timeText(since)}</span>`
  }`
}

/** The state of a delivery, and how often it has failed if further attempts follow. */
export function deliveryBadge({ state, failedAttempts }: DeliveryHealth): Html {
  const goesOn = state === 'retrying' || state === 'paused'
  return badge(state, goesOn && failedAttempts > 0 ? `, ${failedAttempts} failed` : '')
}

/** @param more text after the word */
function badge(state: State, more = ''): Html {
  return html`<span class="badge ${stateMoods[state]}">${stateLabels[state]}${more}</span>`
}
