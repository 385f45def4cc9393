import type { BillingPlans } from '#src/config/billing.ts'
import type { SubscriptionState, SubscriptionStatus } from './effect.ts'

/** The states that give a plan. A payment that failed leaves it until the provider gives up. */
const giving: readonly SubscriptionStatus[] = ['active', 'trialing', 'past_due']

/**
 * The plan of a subscription until `cancelsAt`; null if it gives none. Of several it is the one listed last.
 * @param plans null: every subscription is `pro` (specification, States)
 */
export function planOf(
  { status, prices }: Pick<SubscriptionState, 'status' | 'prices'>,
  plans: BillingPlans | null,
): string | null {
  if (!giving.includes(status)) return null
  if (plans === null) return 'pro'
  const order = orderOf(plans)
  const given = prices.flatMap((price) => plans.get(price) ?? [])
  return given.toSorted((one, other) => order.indexOf(other) - order.indexOf(one))[0] ?? null
}

/** The position of a plan in the operator's list: of several that somebody pays for, the highest counts. */
export function rankOf(plan: string | null, plans: BillingPlans | null): number | null {
  if (plan === null) return null
  return plans === null ? 0 : orderOf(plans).indexOf(plan)
}

function orderOf(plans: BillingPlans): string[] {
  return [...new Set(plans.values())]
}
