import { timeTextOf } from './details.ts'
import { type SampleOptions, sampleMonthSeconds, samplePrice } from './sample-options.ts'

/** Events of Standard Webhooks as Polar sends them, as far as a sample needs them. */

type Fields = Readonly<Record<string, unknown>>

/** Orders and refunds of one customer and amount are about one payment. The id of the event is in a header. */
export function standardEvent(facts: SampleOptions): Fields {
  return { type: facts.type, timestamp: timeTextOf(facts.created), data: dataOf(facts) }
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
  const facts = { customer_id: customer, currency, modified_at: timeTextOf(created) }
  const name = `sample_${customer}_${amount}`
  if (type.startsWith('subscription.')) {
    const state = type.endsWith('.revoked') ? 'canceled' : status
    return {
      ...{
        id: `sub_sample_${customer}`,
        ...facts,
        status: state,
        product_id: price ?? samplePrice,
        amount,
      },
      ...{
        current_period_end: timeTextOf(created + sampleMonthSeconds),
        cancel_at_period_end: false,
      },
      ...{ recurring_interval: 'month', recurring_interval_count: 1 },
    }
  }
  if (type.startsWith('refund.')) {
    return { id: `refund_${name}`, ...facts, order_id: `order_${name}`, amount, status: 'failed' }
  }
  const refunded = type === 'order.refunded' ? amount : 0
  return { id: `order_${name}`, ...facts, total_amount: amount, refunded_amount: refunded }
}
