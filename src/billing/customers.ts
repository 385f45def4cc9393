import type { PgBoss } from 'pg-boss'
import { type ClientInfo, noClientInfo, recordAudit } from '#src/audit/audit.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { type Page, pageOf } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import { uuidForm } from '#src/http/schemas.ts'
import { addJob } from '#src/queue/jobs.ts'
import { type Holder, holderColumns, holderOf, holderText } from './holder.ts'

const linkLock = 7_165_230_420

/** A customer of the billing provider, and the user or tenant that gets its invoices and plan. */
export type Customer = { customer: string } & KnownHolder

/** The user or the tenant of a customer; all null if it is not linked. */
export type KnownHolder = {
  userId: number | null
  email: string | null
  tenantId: string | null
  tenantName: string | null
}

/** A tenant by id, or a user by id or by an address that they have verified; `null` unlinks the customer. */
export type CustomerHolder = Holder | { email: string } | null

/** Reads the id of a user or a tenant, or else an email address, as a person enters it. */
export function readHolder(text: string): Holder | { email: string } {
  return uuidForm.test(text) ? { tenantId: text } : readUser(text)
}

/** Reads the id of a user, or else an email address, as a person enters it. */
export function readUser(text: string): { userId: number } | { email: string } {
  const id = Number(text)
  return /^[1-9]\d*$/.test(text) && Number.isSafeInteger(id) ? { userId: id } : { email: text }
}

export type CustomerRefusal =
  /** No user has the id or the verified address. */
  | 'no-user'
  /** No open tenant has the id. */
  | 'no-tenant'
  /** The user or tenant has another billing customer. */
  | 'has-another'

type HolderRow = Omit<KnownHolder, 'userId'> & { userId: string | null }

const holderFields = Prisma.sql`
  user_id AS "userId", email, tenant_id AS "tenantId", tenant_name AS "tenantName"`

function toKnown({ userId, email, tenantId, tenantName }: HolderRow): KnownHolder {
  return { userId: userId === null ? null : Number(userId), email, tenantId, tenantName }
}

export const customerList = { name: 'customers', forms: [/^[^\p{Cc}\p{Cs}]{1,255}$/u] }

/** The linked customers, in the order of their ids at the provider. For operators. */
export async function listCustomers(tx: Tx, page: Page) {
  const [after = null] = page.after ?? []
  const rows = await tx.sql<HolderRow & { customer: string }>`
    SELECT customer, ${holderFields} FROM list_customers(${after}, ${page.limit + 1}::int)`
  const listed = pageOf(
    rows,
    page,
    customerList.name,
    (row) => [row.customer],
    ({ customer, ...holder }): Customer => ({ customer, ...toKnown(holder) }),
  )
  // The function of the database reads forwards only.
  return { ...listed, previousCursor: null }
}

/**
 * Links a customer to a user or a tenant; from now on its invoices and plan are theirs, and the events that
 * waited for this are processed. It is taken from who had it, and the plan with it; invoices that exist stay
 * where they are.
 * @param by the operator; null for the command line, which runs as the worker role
 * @returns who has it now; null if it is not linked
 */
export async function linkCustomer(
  connection: Queryable,
  queue: PgBoss,
  by: { userId: number } | null,
  customer: string,
  holder: CustomerHolder,
  clientInfo: ClientInfo,
): Promise<{ holder: Holder | null } | CustomerRefusal> {
  const link = by === null ? Prisma.sql`assign_customer` : Prisma.sql`link_customer`
  const byEmail = holder !== null && 'email' in holder ? holder.email : null
  const { userId, tenantId } = holderColumns(holder !== null && 'email' in holder ? null : holder)
  const [row] = await connection.sql<LinkRow>`
    SELECT outcome, user_id, tenant_id, previous_user_id, previous_tenant_id
    FROM ${link}(${customer}, ${userId}, ${byEmail}, ${tenantId}::uuid)`
  if (row === undefined) throw new Error('The customer was not linked.')
  const { outcome } = row
  if (outcome !== 'linked' && outcome !== 'unlinked') return outcome
  const cause = { by, clientInfo }
  const previous = previousOf(row)
  if (previous !== null) await recordLink(connection, 'unlinked', customer, previous, cause)
  const linked = holderOf(row.user_id, row.tenant_id)
  if (linked !== null) {
    await recordLink(connection, 'linked', customer, linked, cause)
    await processWaiting(connection, queue, customer)
  }
  return { holder: linked }
}

type LinkRow = PreviousRow & {
  outcome: 'linked' | 'unlinked' | CustomerRefusal
  user_id: string | null
  tenant_id: string | null
}

type PreviousRow = { previous_user_id: string | null; previous_tenant_id: string | null }

function previousOf(row: PreviousRow): Holder | null {
  return holderOf(row.previous_user_id, row.previous_tenant_id)
}

/** The lock of the functions that link customers (prisma/functions/billing.sql), shared. */
export async function lockLinks(tx: Tx): Promise<void> {
  await tx.sql`SELECT pg_advisory_xact_lock_shared(${linkLock}::bigint)`
}

/** `taken`: somebody has the customer, perhaps this holder. */
export type ClaimOutcome = 'linked' | 'taken' | CustomerRefusal

/**
 * Links a customer to the user or tenant for which this program has created it, unless somebody has it already
 * or the holder has another.
 */
export async function claimCustomer(
  tx: Tx,
  customer: string,
  holder: Holder,
): Promise<ClaimOutcome> {
  const { userId, tenantId } = holderColumns(holder)
  const [row] = await tx.sql<{ outcome: ClaimOutcome }>`
    SELECT claim_customer(${customer}, ${userId}, ${tenantId}::uuid) AS outcome`
  const outcome = row?.outcome ?? 'no-user'
  if (outcome === 'linked') await recordLink(tx, outcome, customer, holder)
  return outcome
}

/** Unlinks the customer that somebody has at a former provider. */
export async function releaseCustomer(tx: Tx, customer: string): Promise<void> {
  const [row] = await tx.sql<PreviousRow>`
    SELECT previous_user_id, previous_tenant_id
    FROM assign_customer(${customer}, NULL, NULL, NULL)`
  const previous = row === undefined ? null : previousOf(row)
  if (previous !== null) await recordLink(tx, 'unlinked', customer, previous)
}

/** @param by the operator; null for the program itself and the command line */
async function recordLink(
  connection: Queryable,
  reason: 'linked' | 'unlinked',
  customer: string,
  holder: Holder,
  { by, clientInfo }: { by: { userId: number } | null; clientInfo: ClientInfo } = {
    by: null,
    clientInfo: noClientInfo,
  },
): Promise<void> {
  const entry = { action: 'customer-link', outcome: 'done', userId: by?.userId ?? null } as const
  await recordAudit(
    connection,
    { ...entry, reason, target: `${customer} ${holderText(holder)}` },
    clientInfo,
  )
}

/** Whether a customer is not linked. */
export async function isCustomerFree(tx: Tx, customer: string): Promise<boolean> {
  const [row] = await tx.sql<{ free: boolean }>`SELECT customer_is_free(${customer}) AS free`
  return row?.free === true
}

/** A customer with several subscriptions that give a plan. */
export type DoublePayer = { customer: string; subscriptions: readonly string[] } & KnownHolder

const mostDoublePayers = 50

/** The first customers who pay for several plans. For operators. */
export async function listDoublePayers(tx: Tx): Promise<DoublePayer[]> {
  const rows = await tx.sql<HolderRow & Pick<DoublePayer, 'customer' | 'subscriptions'>>`
    SELECT customer, ${holderFields}, subscriptions
    FROM list_double_payers(${mostDoublePayers}::int)`
  return rows.map(({ customer, subscriptions, ...holder }) => ({
    ...{ customer, subscriptions },
    ...toKnown(holder),
  }))
}

/** Processes the events that have waited for the link of a customer. */
export async function processWaiting(
  connection: Queryable,
  queue: PgBoss,
  customer: string,
): Promise<void> {
  await addJob(queue, connection, 'billing-linked', { customer })
}

/** The problem response for a customer that was not linked. */
export function toCustomerProblem(refusal: CustomerRefusal): Problem {
  switch (refusal) {
    case 'no-user':
      return new Problem('not-found', { detail: `${customerRefusals['no-user']} ${userRemedy}` })
    case 'no-tenant':
      return new Problem('not-found', { detail: customerRefusals['no-tenant'] })
    case 'has-another':
      return new Problem('conflict', { detail: customerRefusals['has-another'] })
  }
}

/** The same for the form of a page: who is not there is a wrong field, and the page is there. */
export function toCustomerFormProblem(refusal: CustomerRefusal): Problem {
  const problem = toCustomerProblem(refusal)
  return problem.code === 'not-found'
    ? new Problem('malformed', { detail: problem.message })
    : problem
}

/** How to name a user, for the message that none was found, which surprises people whose address is only claimed. */
export const userRemedy =
  'Give the id of a user, or an email address that a user has verified: through a provider that OIDC_<NAME>_TRUST_EMAIL trusts for it, which by default is none.'

export const customerRefusals: Readonly<Record<CustomerRefusal, string>> = {
  'no-user': 'There is no such user.',
  'no-tenant': 'There is no such tenant.',
  'has-another': 'This user or tenant has another billing customer. Unlink that one first.',
}
