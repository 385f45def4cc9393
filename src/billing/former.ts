import type { BillingProviderName } from '#src/config/billing.ts'
import type { Queryable } from '#src/db/system-database.ts'

/**
 * How the id of a customer of another provider looks: after a change of BILLING_PROVIDER those of the former one are
 * still linked. A regular expression for JavaScript and PostgreSQL; null if ids do not tell.
 */
const others: Readonly<Record<BillingProviderName, string | null>> = {
  signed: null,
  stripe: '^(?!cus_)',
  paddle: '^(?!ctm_)',
  standard: '^(cus|ctm)_',
}

/** Whether a customer is of another provider than the present one. */
export function isFormer(customer: string, provider: BillingProviderName): boolean {
  const form = others[provider]
  return form !== null && new RegExp(form).test(customer)
}

/** The customer that a user has at a former provider; null if there is none, and while its plan runs. */
export async function findFormer(
  tx: Queryable,
  userId: number,
  provider: BillingProviderName,
): Promise<string | null> {
  const form = others[provider]
  if (form === null) return null
  const [row] = await tx.sql<{ customer: string | null }>`
    SELECT former_customer(${userId}, ${form}) AS customer`
  return row?.customer ?? null
}

/** What is left of former providers. */
export type Leftover = {
  /** Linked customers. */
  customers: number
  /** Those of them whose user has a plan, and when the last of these is paid until. */
  plans: number
  paidUntil: Date | null
  /** Events that wait for a link. */
  events: number
}

export async function findLeftover(
  connection: Queryable,
  provider: BillingProviderName,
): Promise<Leftover> {
  const form = others[provider]
  const nothing = { customers: 0, plans: 0, paidUntil: null, events: 0 }
  if (form === null) return nothing
  const [row] = await connection.sql<Leftover>`
    SELECT customers, plans, paid_until AS "paidUntil", events FROM count_former(${form})`
  return row ?? nothing
}
