import { timeTextOf } from './details.ts'
import { type SampleOptions, sampleMonthSeconds, samplePrice } from './sample-options.ts'

/** Notifications as Paddle Billing sends them, as far as a sample needs them. */

type Fields = Readonly<Record<string, unknown>>

/** Transactions and adjustments of one customer and amount are about one payment. */
export function paddleNotification(facts: SampleOptions): Fields {
  return {
    ...{ event_id: facts.id, event_type: facts.type, notification_id: `ntf_${facts.id}` },
    ...{ occurred_at: timeTextOf(facts.created), data: dataOf(facts) },
  }
}

function dataOf({
  type,
  created,
  customer,
  amount,
  currency,
  status,
  price,
}: SampleOptions): Fields {
  const item = { price: { id: price ?? samplePrice }, quantity: 1 }
  const facts = { customer_id: customer, currency_code: currency.toUpperCase(), custom_data: null }
  const name = `sample_${customer}_${amount}`
  const total = String(amount)
  if (type.startsWith('subscription.')) {
    const period = {
      starts_at: timeTextOf(created),
      ends_at: timeTextOf(created + sampleMonthSeconds),
    }
    const state = type.endsWith('.canceled') ? 'canceled' : status
    return {
      ...{ id: `sub_sample_${customer}`, ...facts, status: state, items: [item] },
      ...{ current_billing_period: period, scheduled_change: null },
      billing_cycle: { interval: 'month', frequency: 1 },
    }
  }
  if (type.startsWith('adjustment.')) {
    const approved = { action: 'refund', status: 'approved', transaction_id: `txn_${name}` }
    return { id: `adj_${name}`, ...facts, ...approved, totals: { total } }
  }
  const totals = { totals: { total, grand_total: total } }
  return { id: `txn_${name}`, ...facts, status: 'completed', items: [item], details: totals }
}
