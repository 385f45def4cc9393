import type { BillingPlans } from '#src/config/billing.ts'
import type { SubscriptionState, SubscriptionStatus } from './effect.ts'

/** The states that give a plan. A payment that failed leaves it until the provider gives up. */
const giving: readonly SubscriptionStatus[] = ['active', 'trialing', 'past_due']

/**
 * The plan of a subscription until `cancelsAt`; null if it gives none.
 * @param plans null: every subscription is `pro` (specification, States)
 */
export function planOf(
  { status, prices }: Pick<SubscriptionState, 'status' | 'prices'>,
  plans: BillingPlans | null,
): string | null {
  if (!giving.includes(status)) return null
  if (plans === null) return 'pro'
  const price = prices.find((one) => plans.has(one))
  return price === undefined ? null : (plans.get(price) ?? null)
}
