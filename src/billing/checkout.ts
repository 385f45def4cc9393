import type { Caller } from '#src/access/caller.ts'
import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import type { BillingPlans } from '#src/config/billing.ts'
import type { Tx } from '#src/db/database.ts'
import type { CheckoutApi } from './provider-api.ts'

/** Why there is no checkout. */
export type CheckoutRefusal =
  /** The price is not in BILLING_PLANS. */
  | 'unknown-price'
  /** The provider does not have the price. */
  | 'price-refused'
  /** The person has deleted their own tenant, without which they have neither plan nor invoices. */
  | 'no-tenant'
  /** The person has the plan, and it does not end. */
  | 'has-plan'
  /** The provider has no customer for this person, and cannot have one. */
  | 'no-customer'

type Buyer = Pick<Caller, 'userId' | 'email' | 'plan'>

/** What the database knows of a person who pays. */
export type OwnBilling = { customer: string | null; cancelsAt: Date | null; hasTenant: boolean }

export async function findOwnBilling(tx: Tx, { userId }: Pick<Caller, 'userId'>) {
  const [row] = await tx.sql<OwnBilling>`
    SELECT billing_customer AS customer, subscription_cancels_at AS "cancelsAt",
           own_tenant_id IS NOT NULL AS "hasTenant"
    FROM users WHERE id = ${userId}`
  return row ?? { customer: null, cancelsAt: null, hasTenant: false }
}

/** The plan that a checkout would give, or why there is none. */
export function decideCheckout(
  price: string,
  plans: BillingPlans | null,
  buyer: Pick<Buyer, 'plan'>,
  { cancelsAt, hasTenant }: Pick<OwnBilling, 'cancelsAt' | 'hasTenant'>,
): { plan: string } | CheckoutRefusal {
  const plan = plans?.get(price)
  if (plan === undefined) return 'unknown-price'
  if (!hasTenant) return 'no-tenant'
  return buyer.plan === plan && cancelsAt === null ? 'has-plan' : { plan }
}

/**
 * Links the customer that was just created for the caller, unless they have one by now.
 * @returns the caller's customer
 */
export async function keepCustomer(
  tx: Tx,
  { userId }: Pick<Caller, 'userId'>,
  customer: string,
  clientInfo: ClientInfo,
): Promise<string | null> {
  const [row] = await tx.sql<{ customer: string | null }>`
    SELECT claim_own_customer(${customer}) AS customer`
  if (row?.customer !== customer) return row?.customer ?? null
  const target = `${customer} user ${userId}`
  const entry = {
    action: 'customer-link',
    outcome: 'done',
    reason: 'linked',
    userId,
    target,
  } as const
  await recordAudit(tx, entry, clientInfo)
  return customer
}

/** @returns the URL where the caller pays */
export async function startCheckout(
  api: CheckoutApi,
  buyer: Buyer,
  order: { price: string; returnUrl: string },
  known: string | null,
  keep: (customer: string) => Promise<string | null>,
): Promise<{ url: string } | CheckoutRefusal> {
  const created = known === null ? await api.createCustomer(buyer) : null
  const customer = created === null ? known : await keep(created)
  if (customer === null) return 'no-customer'
  const url = await api.startCheckout(customer, buyer, order)
  return url === null ? 'price-refused' : { url }
}
