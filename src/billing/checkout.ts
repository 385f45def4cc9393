import type { Caller } from '#src/access/caller.ts'
import { managingRole } from '#src/access/roles.ts'
import { needed, type Seats } from '#src/auth/members/seats.ts'
import type { CurrentSubscription } from '#src/billing/plans.ts'
import type { BillingCustomer, BillingPlans, BillingProviderName } from '#src/config/billing.ts'
import type { Database, Tx } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { Problem } from '#src/http/problems.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { isCustomerFree } from './customers.ts'
import { isFormer } from './former.ts'
import type { Holder } from './holder.ts'
import { createOffers, type Offer, type OffersLog } from './offers.ts'
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
  | 'tenant-has-plan'
  /** Tenants pay, and the person does not manage theirs. */
  | 'not-manager'
  /** The provider has no customer for this person, and cannot have one. */
  | 'no-customer'
  /** The provider has a customer only for an address, and the person has verified none. */
  | 'no-verified-email'
  /** Another checkout of the person was paid while this one was started. */
  | 'just-paid'
  /** The provider has deleted the person's customer. */
  | 'customer-gone'

/** What the database knows of who pays: the person, or their tenant. */
export type OwnBilling = {
  /** Who is or becomes the customer, or why the person cannot start to pay for anybody. */
  holder: Holder | 'no-tenant' | 'not-manager'
  customer: string | null
  verifiedEmail: string | null
  /** The plan that the subscription gives now. */
  plan: string | null
  /** The subscription that decides the plan; null for somebody who never had one. */
  subscription: Omit<CurrentSubscription, 'plan' | 'seats'> | null
  /** The seats of a tenant, for those who manage it. */
  seats: Seats | null
}

type OwnRow = Pick<OwnBilling, 'customer' | 'verifiedEmail' | 'plan'> & {
  hasTenant: boolean
  status: string | null
  periodEnd: Date | null
  cancelsAt: Date | null
  bought: number | null
  /** Null for those who do not manage the tenant. */
  members: number | null
  invitations: number | null
}

const stateColumns = Prisma.sql`
  CASE WHEN u.email_verified THEN u.email END AS "verifiedEmail",
  CASE WHEN h.subscription_cancels_at <= now() THEN NULL ELSE h.plan END AS plan,
  h.subscription_status AS status, h.subscription_period_end AS "periodEnd",
  h.subscription_cancels_at AS "cancelsAt"`

async function findOwnBilling(
  tx: Tx,
  caller: Pick<Caller, 'userId' | 'tenantId' | 'role'>,
  customer: BillingCustomer,
): Promise<OwnBilling> {
  const { userId, tenantId, role } = caller
  const [row] =
    customer === 'person'
      ? await tx.sql<OwnRow>`
          SELECT ${stateColumns}, h.billing_customer AS customer,
                 h.own_tenant_id IS NOT NULL AS "hasTenant"
          FROM users u JOIN users h ON h.id = u.id WHERE u.id = ${userId}`
      : await tx.sql<OwnRow>`
          SELECT ${stateColumns}, b.customer, h.id IS NOT NULL AS "hasTenant", b.seats AS bought,
                 b.members, b.invitations
          FROM users u LEFT JOIN tenants h ON h.id = ${tenantId}::uuid
          LEFT JOIN tenant_billing(NULL) b ON true WHERE u.id = ${userId}`
  const { customer: linked = null, verifiedEmail = null, plan = null, status = null } = row ?? {}
  const { periodEnd = null, cancelsAt = null, bought = null } = row ?? {}
  const { members = null, invitations = null } = row ?? {}
  const manages = role === managingRole && members !== null
  const holder = customer === 'person' ? { userId } : manages && tenantId ? { tenantId } : null
  return {
    holder: row?.hasTenant !== true ? 'no-tenant' : (holder ?? 'not-manager'),
    ...{ customer: linked, verifiedEmail, plan },
    subscription: status === null ? null : { status, periodEnd, cancelsAt },
    seats: manages ? { bought, members, invitations: invitations ?? 0 } : null,
  }
}

/** The plan that a checkout would give and to whom, or why there is none. */
export function decideCheckout(
  price: string,
  plans: BillingPlans | null,
  { holder, plan: present }: Pick<OwnBilling, 'holder' | 'plan'>,
): { plan: string; holder: Holder } | CheckoutRefusal {
  const plan = plans?.get(price)
  if (plan === undefined) return 'unknown-price'
  if (typeof holder === 'string') return holder
  if (present === null) return { plan, holder }
  return 'tenantId' in holder ? 'tenant-has-plan' : 'has-plan'
}

/** The provider's pages, where people pay and change what they pay. */
export type Checkout = {
  /** Who pays when this person does, as BILLING_CUSTOMER says. */
  find(tx: Tx, caller: Pick<Caller, 'userId' | 'tenantId' | 'role'>): Promise<OwnBilling>
  /** The prices that this person or tenant can pay, with the plan of each. */
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

type BillingSettings = {
  plans: BillingPlans | null
  provider: BillingProviderName
  customer: BillingCustomer
}

/** @param api null if the installation has no provider where people pay */
export function createCheckout(
  api: CheckoutApi | null,
  { plans, provider, customer: kind }: BillingSettings,
  clock: Clock,
  log: OffersLog,
): Checkout {
  const find: Checkout['find'] = (tx, caller) => findOwnBilling(tx, caller, kind)
  const read = (db: Database, entry: Entry<Caller>) =>
    db.read(entry, async (tx, caller) => {
      const own = await find(tx, caller)
      return { ...own, customer: presentCustomer(own, provider) }
    })
  const offers = createOffers(api, plans, clock, log)
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
    ...{ find, offersFor },
    hasPortalFor: (own) => api !== null && presentCustomer(own, provider) !== null,
    async start(db, entry, ordered) {
      const own = await read(db, entry)
      if (api === null) return 'no-checkout'
      const decided = decideCheckout(ordered.price, plans, own)
      if (typeof decided === 'string') return decided
      const trialDays = api.givesTrials ? null : await trialFor(own, ordered.price)
      const order = { ...ordered, trialDays, quantity: own.seats === null ? 1 : needed(own.seats) }
      const payer = { holder: decided.holder, verifiedEmail: own.verifiedEmail }
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
      const { customer, holder } = await read(db, entry)
      if (api === null) return 'no-checkout'
      if (holder === 'not-manager') return holder
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
  Record<CheckoutRefusal, ['not-found' | 'malformed' | 'forbidden' | 'conflict', detail: string]>
> = {
  'no-checkout': ['not-found', 'This installation has no checkout.'],
  'unknown-price': ['malformed', 'There is no plan with this price.'],
  'price-refused': ['malformed', 'The billing provider does not have this price.'],
  'no-tenant': [
    'conflict',
    'You have deleted your own tenant, which had your plan and your invoices.',
  ],
  'has-plan': ['conflict', 'You have a plan already. Change or cancel it at the billing portal.'],
  'tenant-has-plan': [
    'conflict',
    'Your tenant has a plan already. Change or cancel it at the billing portal.',
  ],
  'not-manager': ['forbidden', 'The plan is that of your tenant. Those who manage it choose it.'],
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
