import type { BillingCustomer, BillingProviderName } from '#src/config/billing.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { type Holder, holderColumns } from './holder.ts'

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

/** The customer that somebody has at a former provider; null if there is none, and while its plan runs. */
export async function findFormer(
  tx: Queryable,
  holder: Holder,
  provider: BillingProviderName,
): Promise<string | null> {
  const form = others[provider]
  if (form === null) return null
  const { userId, tenantId } = holderColumns(holder)
  const [row] = await tx.sql<{ customer: string | null }>`
    SELECT former_customer(${userId}, ${tenantId}::uuid, ${form}) AS customer`
  return row?.customer ?? null
}

/** What is left of former providers, or of another BILLING_CUSTOMER. */
export type Leftover = {
  /** Linked customers. */
  customers: number
  /** Those of them who have a plan, and when the last of these is paid until. */
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
  return form === null ? nothing : count(connection, form, Prisma.sql`true`)
}

/** Customers of the other kind of holder than BILLING_CUSTOMER says, without their waiting events. */
export async function findOtherHolders(
  connection: Queryable,
  customer: BillingCustomer,
): Promise<Leftover> {
  const other = customer === 'tenant' ? Prisma.sql`NOT of_tenants` : Prisma.sql`of_tenants`
  return { ...(await count(connection, '', other)), events: 0 }
}

const nothing: Leftover = { customers: 0, plans: 0, paidUntil: null, events: 0 }

/** @param form of the ids, a regular expression */
async function count(connection: Queryable, form: string, which: Prisma.Sql): Promise<Leftover> {
  const [row] = await connection.sql<Leftover>`
    SELECT coalesce(sum(customers) FILTER (WHERE ${which}), 0)::int AS customers,
           coalesce(sum(plans) FILTER (WHERE ${which}), 0)::int AS plans,
           max(paid_until) FILTER (WHERE ${which}) AS "paidUntil",
           coalesce(max(events), 0)::int AS events
    FROM count_customers(${form})`
  return row ?? nothing
}
