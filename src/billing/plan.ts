import type { BillingPlans } from '#src/config/billing.ts'
import type { SubscriptionDetails } from './details.ts'
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

/**
 * How many people a subscription is for: the quantity of the prices that give its plan, or of all its prices if the plan
 * does not follow from them. Null if it gives no plan, or if the provider does not say it.
 */
export function seatsOf(
  plan: string | null,
  details: Pick<SubscriptionDetails, 'items'> | null,
  plans: BillingPlans | null,
): number | null {
  if (plan === null || details === null) return null
  const giving = details.items.filter(({ price }) => price !== null && plans?.get(price) === plan)
  const counts = (giving.length > 0 ? giving : details.items).map(({ quantity }) => quantity)
  if (counts.length === 0 || counts.includes(null)) return null
  return Math.min(
    counts.reduce<number>((sum, count) => sum + (count ?? 0), 0),
    mostSeats,
  )
}

const mostSeats = 2_147_483_647 // an integer of PostgreSQL

/** The position of a plan in the operator's list: of several that somebody pays for, the highest counts. */
export function rankOf(plan: string | null, plans: BillingPlans | null): number | null {
  if (plan === null) return null
  return plans === null ? 0 : orderOf(plans).indexOf(plan)
}

function orderOf(plans: BillingPlans): string[] {
  return [...new Set(plans.values())]
}
