import type { OwnSubscription } from '#src/billing/subscriptions.ts'
import { badge } from '#src/pages/kit/components.ts'
import { type Cell, type Html, html, isolated, table, timeText } from '#src/pages/kit/html.ts'
import { amountText } from '#src/runtime/amount.ts'
import { stateOf } from './plan-states.ts'

const columns = [
  { label: 'Subscription', kind: 'wrap' as const },
  { label: 'Price' },
  { label: 'State' },
  { label: 'Next' },
]

/** What somebody pays for: an item a row. Without what the provider says of it there is none. */
export function subscriptionTable(
  subscriptions: readonly OwnSubscription[],
  titleOf: (price: string) => string,
): Html {
  const rows = subscriptions
    .filter(({ status }) => status !== 'canceled' && status !== 'incomplete_expired')
    .flatMap((one) => one.items.map((item) => rowOf(one, item, titleOf)))
  return rows.length === 0 ? html`` : html`<h3>What you pay</h3>${table(columns, rows)}`
}

function rowOf(
  subscription: OwnSubscription,
  { price, quantity, amount, interval, intervalCount }: OwnSubscription['items'][number],
  titleOf: (price: string) => string,
): Cell[] {
  const { currency, digits, status } = subscription
  const times = quantity === null || quantity === 1 ? '' : `${quantity.toLocaleString('en')} × `
  const cost =
    amount === null || currency === null || digits === null
      ? `${times}price at the provider`
      : `${times}${amountText(amount, currency, digits)}${intervalText(interval, intervalCount)}`
  const state = stateOf(status)
  return [
    price === null ? 'Subscription' : isolated(titleOf(price)),
    cost,
    badge(state.words, state.mood),
    nextOf(subscription),
  ]
}

/** ` a month`, ` every 3 months`. */
export function intervalText(interval: string | null, count: number | null): string {
  if (interval === null || count === null) return ''
  return count === 1 ? ` a ${interval}` : ` every ${count} ${interval}s`
}

const changes = { cancel: 'Ends', pause: 'Pauses', resume: 'Resumes', change: 'Changes' } as const

/** What happens next, and when. */
function nextOf({
  scheduledChange,
  paymentsPaused,
  trialEndsAt,
  currentPeriodEnd,
  status,
}: OwnSubscription): Html {
  if (paymentsPaused !== null) {
    const { until } = paymentsPaused
    return html`Payments paused${until === null ? '' : html` until ${timeText(until)}`}`
  }
  if (scheduledChange !== null) {
    const { kind, at } = scheduledChange
    return html`${changes[kind]}${at === null ? '' : html` ${timeText(at)}`}`
  }
  if (status === 'trialing' && trialEndsAt !== null)
    return html`Trial ends ${timeText(trialEndsAt)}`
  if (status !== 'active' || currentPeriodEnd === null) return html`–`
  return html`Renews ${timeText(currentPeriodEnd)}`
}
