/** The fields of a sample event that a caller chooses. */
export type SampleOptions = {
  id: string
  type: string
  /** Unix seconds. */
  created: number
  customer: string
  /** Minor units. */
  amount: number
  currency: string
  /** Status of a subscription. */
  status: string
}

/** The body of an event, as the billing provider sends it (contract 5). */
export function sampleEvent(options: SampleOptions): string {
  const { id, type, created } = options
  return JSON.stringify({ id, type, created, data: { object: objectOf(options) } })
}

function objectOf({ id, type, customer, amount, currency, status }: SampleOptions): object {
  if (type.includes('subscription.')) return { id: `sub_${customer}_${status}`, customer, status }
  return { id: `ch_${id}`, customer, amount, currency }
}
