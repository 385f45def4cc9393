import type { Caller } from '#src/access/caller.ts'
import type { BillingPlans } from '#src/config/billing.ts'
import type { Tx } from '#src/db/database.ts'
import type { CheckoutApi } from './provider-api.ts'

/** Why there is no page of the provider. */
export type CheckoutRefusal =
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
  /** The provider has deleted the person's customer. */
  | 'customer-gone'

type Buyer = Pick<Caller, 'userId' | 'email' | 'plan'>

/** What the database knows of a person who pays. */
export type OwnBilling = { customer: string | null; hasTenant: boolean }

export async function findOwnBilling(tx: Tx, { userId }: Pick<Caller, 'userId'>) {
  const [row] = await tx.sql<OwnBilling>`
    SELECT billing_customer AS customer, own_tenant_id IS NOT NULL AS "hasTenant"
    FROM users WHERE id = ${userId}`
  return row ?? { customer: null, hasTenant: false }
}

/** The plan that a checkout would give, or why there is none. */
export function decideCheckout(
  price: string,
  plans: BillingPlans | null,
  buyer: Pick<Buyer, 'plan'>,
  { hasTenant }: Pick<OwnBilling, 'hasTenant'>,
): { plan: string } | CheckoutRefusal {
  const plan = plans?.get(price)
  if (plan === undefined) return 'unknown-price'
  if (!hasTenant) return 'no-tenant'
  return buyer.plan === null ? { plan } : 'has-plan'
}

/**
 * Whether a new customer of the caller may be used: nobody has it. The caller gets it when the worker
 * has asked the provider for whom it was created.
 */
export async function isCustomerFree(tx: Tx, customer: string): Promise<boolean> {
  const [row] = await tx.sql<{ free: boolean }>`SELECT customer_is_free(${customer}) AS free`
  return row?.free === true
}

/**
 * @param known the customer that is linked to the buyer
 * @returns the URL where the buyer pays
 */
export async function startCheckout(
  api: CheckoutApi,
  buyer: Buyer,
  order: { price: string; returnUrl: string },
  known: string | null,
  isFree: (customer: string) => Promise<boolean>,
): Promise<{ url: string } | CheckoutRefusal> {
  const customer = known ?? (await api.createCustomer(buyer))
  if (customer === null || (known === null && !(await isFree(customer)))) return 'no-customer'
  return api.startCheckout(customer, buyer, order)
}
