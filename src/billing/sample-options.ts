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
  /** What a subscription buys, of a provider that names it. */
  price?: string
}

/** What a subscription buys unless the caller says it. */
export const samplePrice = 'price_pro'

export const sampleMonthSeconds = 30 * 86_400
