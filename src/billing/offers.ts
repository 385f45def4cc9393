import { entitlementsOf, planNames, planTitle } from '#src/access/entitlements.ts'
import type { BillingPlans } from '#src/config/billing.ts'
import { type Entitlements, noPlan } from '#src/resources/plans.ts'
import type { Clock } from '#src/runtime/clock.ts'
import type { PriceTerms } from './details.ts'
import type { CheckoutApi } from './provider-api.ts'

/** A price that people can pay. */
export type Offer = {
  price: string
  plan: string
  /** Null if the provider does not say them now, or in one number. */
  terms: PriceTerms | null
}

type Offers = () => Promise<readonly Offer[]>

/** Gets one warning when the price of an id begins to fail. */
export type OffersLog = { warn(facts: { price: string; err: unknown }, text: string): void }

const keptMs = 600_000
/** A provider that does not answer delays a page once in this time. */
const keptAfterFailureMs = 60_000

/** The prices of BILLING_PLANS with what the provider says of each, which is kept for ten minutes. */
export function createOffers(
  api: Pick<CheckoutApi, 'findPrice'> | null,
  plans: BillingPlans | null,
  clock: Clock,
  log: OffersLog,
): Offers {
  const failing = new Set<string>()
  const kept = new Map<string, { terms: Promise<PriceTerms | null>; until: number }>()

  function termsOf(find: CheckoutApi['findPrice'], price: string): Promise<PriceTerms | null> {
    const now = clock.now().getTime()
    const known = kept.get(price)
    if (known !== undefined && known.until > now) return known.terms
    const entry = {
      until: now + keptMs,
      terms: find(price).then(
        (terms) => {
          failing.delete(price)
          return terms
        },
        (error: unknown) => {
          entry.until = now + keptAfterFailureMs
          if (!failing.has(price)) log.warn({ price, err: error }, 'a price could not be read')
          failing.add(price)
          return null
        },
      ),
    }
    kept.set(price, entry)
    return entry.terms
  }

  return async () => {
    if (api === null) return []
    return Promise.all(
      [...(plans ?? [])].map(async ([price, plan]) => ({
        ...{ price, plan, terms: await termsOf(api.findPrice, price) },
      })),
    )
  }
}

/** A plan to choose. */
export type PlanChoice = Entitlements & {
  plan: string
  title: string
  isCurrent: boolean
  /** None for a plan that cannot be bought. */
  offers: readonly Offer[]
}

/** The plans of the app, or those that can be bought if it declares none; empty if nothing can be bought. */
export function choicesOf(offers: readonly Offer[], current: string | null): PlanChoice[] {
  if (offers.length === 0) return []
  const names = planNames.length > 0 ? planNames : [...new Set(offers.map(({ plan }) => plan))]
  return names.map((name) => ({
    ...{ plan: name, title: planTitle(name), isCurrent: name === (current ?? noPlan) },
    ...entitlementsOf(name),
    offers: offers.filter(({ plan }) => plan === name),
  }))
}
