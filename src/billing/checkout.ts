import type { Caller } from '#src/access/caller.ts'
import type { CurrentSubscription } from '#src/billing/plans.ts'
import type { BillingPlans, BillingProviderName } from '#src/config/billing.ts'
import type { Database, Tx } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { Problem } from '#src/http/problems.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { isCustomerFree } from './customers.ts'
import { isFormer } from './former.ts'
import { createOffers, type Offer } from './offers.ts'
import type { CheckoutApi, ProviderPage } from './provider-api.ts'

/** Why there is no page of the provider. */
export type CheckoutRefusal =
  /** The installation has no provider where people pay. */
  | 'no-checkout'
  /** The price is not in BILLING_PLANS. */
  | 'unknown-price'
  /** The provider does not have the price. */
  | 'price-refused'
  /** The person has deleted their own tenant, without which they have neither plan nor invoices. */
  | 'no-tenant'
  /** A plan runs. A second subscription would be paid beside it. */
  | 'has-plan'
  /** The provider has no customer for this person, and cannot have one. */
  | 'no-customer'
  /** The provider has a customer only for an address, and the person has verified none. */
  | 'no-verified-email'
  /** Another checkout of the person was paid while this one was started. */
  | 'just-paid'
  /** The provider has deleted the person's customer. */
  | 'customer-gone'

type Buyer = Pick<Caller, 'plan'>

/** What the database knows of a person who pays. */
export type OwnBilling = {
  customer: string | null
  verifiedEmail: string | null
  hasTenant: boolean
  /** The subscription that decides the plan; null for people who never had one. */
  subscription: Omit<CurrentSubscription, 'plan'> | null
}

type OwnRow = Omit<OwnBilling, 'subscription'> & {
  status: string | null
  periodEnd: Date | null
  cancelsAt: Date | null
}

export async function findOwnBilling(tx: Tx, { userId }: Pick<Caller, 'userId'>) {
  const [row] = await tx.sql<OwnRow>`
    SELECT billing_customer AS customer, own_tenant_id IS NOT NULL AS "hasTenant",
           CASE WHEN email_verified THEN email END AS "verifiedEmail",
           subscription_status AS status, subscription_period_end AS "periodEnd",
           subscription_cancels_at AS "cancelsAt"
    FROM users WHERE id = ${userId}`
  const { customer = null, verifiedEmail = null, hasTenant = false, status = null } = row ?? {}
  const { periodEnd = null, cancelsAt = null } = row ?? {}
  const subscription = status === null ? null : { status, periodEnd, cancelsAt }
  return { customer, verifiedEmail, hasTenant, subscription } satisfies OwnBilling
}

/** The plan that a checkout would give, or why there is none. */
export function decideCheckout(
  price: string,
  plans: BillingPlans | null,
  buyer: Buyer,
  { hasTenant }: Pick<OwnBilling, 'hasTenant'>,
): { plan: string } | CheckoutRefusal {
  const plan = plans?.get(price)
  if (plan === undefined) return 'unknown-price'
  if (!hasTenant) return 'no-tenant'
  return buyer.plan === null ? { plan } : 'has-plan'
}

/** The provider's pages, where people pay and change what they pay. */
export type Checkout = {
  /** The prices that this person can pay, with the plan of each. */
  offersFor(own: Pick<OwnBilling, 'subscription'>): Promise<readonly Offer[]>
  /** Whether there is a page for what this person pays. */
  hasPortalFor(own: Pick<OwnBilling, 'customer'>): boolean
  start(
    db: Database,
    entry: Entry<Caller>,
    order: { price: string; returnUrl: string },
  ): Promise<ProviderPage | CheckoutRefusal>
  openPortal(
    db: Database,
    entry: Entry<Caller>,
    returnUrl: string,
  ): Promise<ProviderPage | CheckoutRefusal>
}

/** A provider answers with a customer that it has deleted for as long as it remembers the request. */
const mostGone = 4

/** @param api null if the installation has no provider where people pay */
export function createCheckout(
  api: CheckoutApi | null,
  plans: BillingPlans | null,
  provider: BillingProviderName,
  clock: Clock,
): Checkout {
  const read = (db: Database, entry: Entry<Caller>) =>
    db.read(entry, async (tx, caller): Promise<[Caller, OwnBilling]> => {
      const own = await findOwnBilling(tx, caller)
      return [caller, { ...own, customer: presentCustomer(own, provider) }]
    })
  const offers = createOffers(api, plans, clock)
  /** A trial that the provider does not give by itself is for people who have had no subscription. */
  const offersFor: Checkout['offersFor'] = async ({ subscription }) => {
    const all = await offers()
    if (api === null || api.givesTrials || subscription === null) return all
    return all.map((one) => ({ ...one, terms: one.terms && { ...one.terms, trialDays: null } }))
  }
  async function trialFor(own: OwnBilling, wanted: string): Promise<number | null> {
    const offer = (await offersFor(own)).find(({ price }) => price === wanted)
    return offer?.terms?.trialDays ?? null
  }
  return {
    offersFor,
    hasPortalFor: (own) => api !== null && presentCustomer(own, provider) !== null,
    async start(db, entry, ordered) {
      const [buyer, own] = await read(db, entry)
      if (api === null) return 'no-checkout'
      const decided = decideCheckout(ordered.price, plans, buyer, own)
      if (typeof decided === 'string') return decided
      const trialDays = api.givesTrials ? null : await trialFor(own, ordered.price)
      const order = { ...ordered, trialDays }
      const payer = { userId: buyer.userId, verifiedEmail: own.verifiedEmail }
      if (own.customer !== null) return called(api.startCheckout(own.customer, payer, order))
      let gone: string | undefined
      for (let attempt = 0; attempt < mostGone; attempt += 1) {
        const customer = await called(api.createCustomer(payer, gone))
        // The worker links it, after it has asked the provider for whom it was created.
        if (customer === null) {
          return payer.verifiedEmail === null ? 'no-verified-email' : 'no-customer'
        }
        if (!(await db.read(entry, (tx) => isCustomerFree(tx, customer)))) return 'no-customer'
        const started = await called(api.startCheckout(customer, payer, order))
        if (started !== 'customer-gone') return started
        gone = customer
      }
      return 'customer-gone'
    },
    async openPortal(db, entry, returnUrl) {
      const [, { customer }] = await read(db, entry)
      if (api === null) return 'no-checkout'
      return customer === null ? 'no-customer' : called(api.openPortal(customer, returnUrl))
    },
  }
}

/** The customer of a person at this provider, which knows nothing of those of a former one. */
function presentCustomer(
  { customer }: Pick<OwnBilling, 'customer'>,
  provider: BillingProviderName,
): string | null {
  return customer === null || isFormer(customer, provider) ? null : customer
}

/** The cause is for the log; a 5xx does not say why. */
async function called<Result>(call: Promise<Result>): Promise<Result> {
  return call.catch((cause) => {
    const problem = new Problem('unavailable', { retryAfterSeconds: 5 })
    problem.cause = cause
    throw problem
  })
}

/** The problem response for a page that was not started. */
export function toCheckoutProblem(refusal: CheckoutRefusal): Problem {
  const [code, detail] = refusals[refusal]
  return new Problem(code, { detail })
}

const refusals: Readonly<
  Record<CheckoutRefusal, ['not-found' | 'malformed' | 'conflict', detail: string]>
> = {
  'no-checkout': ['not-found', 'This installation has no checkout.'],
  'unknown-price': ['malformed', 'There is no plan with this price.'],
  'price-refused': ['malformed', 'The billing provider does not have this price.'],
  'no-tenant': [
    'conflict',
    'You have deleted your own tenant, which had your plan and your invoices.',
  ],
  'has-plan': ['conflict', 'You have a plan already. Change or cancel it at the billing portal.'],
  'no-customer': ['conflict', 'The billing provider has no customer for you.'],
  'no-verified-email': [
    'conflict',
    'The billing provider needs an email address that you have verified.',
  ],
  'just-paid': ['conflict', 'You have just paid at another checkout. Your plan changes soon.'],
  'customer-gone': [
    'conflict',
    'The billing provider has deleted your customer. Ask an operator to unlink it.',
  ],
}
