import type { PgBoss } from 'pg-boss'
import { type ClientInfo, noClientInfo, recordAudit } from '#src/audit/audit.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { type Page, pageOf } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import { addJob } from '#src/queue/jobs.ts'

const linkLock = 7_165_230_420

/** A customer of the billing provider and the user who gets its invoices and plan. */
export type Customer = { customer: string; userId: number; email: string | null }

/** By id, or by an address that the user has verified; `null` for no user. */
export type CustomerHolder = { userId: number } | { email: string } | null

/** Reads the id of a user, or else an email address, as a person enters it. */
export function readHolder(text: string): { userId: number } | { email: string } {
  const id = Number(text)
  return /^[1-9]\d*$/.test(text) && Number.isSafeInteger(id) ? { userId: id } : { email: text }
}

export type CustomerRefusal =
  /** No user has the id or the verified address. */
  | 'no-user'
  /** The user has another billing customer. */
  | 'has-another'

type CustomerRow = { customer: string; user_id: string; email: string | null }

export const customerList = { name: 'customers', forms: [/^[^\p{Cc}\p{Cs}]{1,255}$/u] }

/** The linked customers, in the order of their ids at the provider. For operators. */
export async function listCustomers(tx: Tx, page: Page) {
  const [after = null] = page.after ?? []
  const rows = await tx.sql<CustomerRow>`
    SELECT customer, user_id, email FROM list_customers(${after}, ${page.limit + 1}::int)`
  const listed = pageOf(
    rows,
    page,
    customerList.name,
    (row) => [row.customer],
    ({ customer, user_id, email }): Customer => ({ customer, userId: Number(user_id), email }),
  )
  // The function of the database reads forwards only.
  return { ...listed, previousCursor: null }
}

/**
 * Links a customer to a user; from now on its invoices and plan are the user's, and the events that
 * waited for this are processed. It is taken from the user who had it, and the plan with it; invoices
 * that exist stay where they are.
 * @param by the operator; null for the command line, which runs as the worker role
 * @returns the id of the user; null for none
 */
export async function linkCustomer(
  connection: Queryable,
  queue: PgBoss,
  by: { userId: number } | null,
  customer: string,
  holder: CustomerHolder,
  clientInfo: ClientInfo,
): Promise<{ userId: number | null } | CustomerRefusal> {
  const link = by === null ? Prisma.sql`assign_customer` : Prisma.sql`link_customer`
  const byId = holder !== null && 'userId' in holder ? holder.userId : null
  const byEmail = holder !== null && 'email' in holder ? holder.email : null
  const [row] = await connection.sql<LinkRow>`
    SELECT outcome, user_id, previous_user_id FROM ${link}(${customer}, ${byId}, ${byEmail})`
  if (row === undefined) throw new Error('The customer was not linked.')
  const { outcome, user_id, previous_user_id: previous } = row
  if (outcome === 'no-user' || outcome === 'has-another') return outcome
  const userId = user_id === null ? null : Number(user_id)
  const told = { by, clientInfo }
  if (previous !== null) await recordLink(connection, 'unlinked', customer, previous, told)
  if (userId !== null) {
    await recordLink(connection, 'linked', customer, userId, told)
    await processWaiting(connection, queue, customer)
  }
  return { userId }
}

type LinkRow = {
  outcome: 'linked' | 'unlinked' | CustomerRefusal
  user_id: string | null
  previous_user_id: string | null
}

/** The lock of the functions that link customers (prisma/functions/billing.sql), shared. */
export async function lockLinks(tx: Tx): Promise<void> {
  await tx.sql`SELECT pg_advisory_xact_lock_shared(${linkLock}::bigint)`
}

/** `taken`: a user has the customer, perhaps this one. */
export type ClaimOutcome = 'linked' | 'taken' | CustomerRefusal

/**
 * Links a customer to the user for whom this program has created it, unless a user has it already or
 * the user has another.
 */
export async function claimCustomer(
  tx: Tx,
  customer: string,
  userId: number,
): Promise<ClaimOutcome> {
  const [row] = await tx.sql<{ outcome: ClaimOutcome }>`
    SELECT claim_customer(${customer}, ${userId}) AS outcome`
  const outcome = row?.outcome ?? 'no-user'
  if (outcome === 'linked') await recordLink(tx, outcome, customer, userId)
  return outcome
}

/** Unlinks the customer that a user has at a former provider. */
export async function releaseCustomer(tx: Tx, customer: string): Promise<void> {
  const [row] = await tx.sql<Pick<LinkRow, 'previous_user_id'>>`
    SELECT previous_user_id FROM assign_customer(${customer}, NULL, NULL)`
  const previous = row?.previous_user_id ?? null
  if (previous !== null) await recordLink(tx, 'unlinked', customer, previous)
}

/** @param by the operator; null for the program itself and the command line */
async function recordLink(
  connection: Queryable,
  reason: 'linked' | 'unlinked',
  customer: string,
  user: number | string,
  { by, clientInfo }: { by: { userId: number } | null; clientInfo: ClientInfo } = {
    by: null,
    clientInfo: noClientInfo,
  },
): Promise<void> {
  const entry = { action: 'customer-link', outcome: 'done', userId: by?.userId ?? null } as const
  await recordAudit(
    connection,
    { ...entry, reason, target: `${customer} user ${user}` },
    clientInfo,
  )
}

/** Whether no user has a customer. */
export async function isCustomerFree(tx: Tx, customer: string): Promise<boolean> {
  const [row] = await tx.sql<{ free: boolean }>`SELECT customer_is_free(${customer}) AS free`
  return row?.free === true
}

/** A customer with several subscriptions that give a plan. */
export type DoublePayer = {
  customer: string
  /** Null if no user has the customer. */
  userId: number | null
  email: string | null
  subscriptions: readonly string[]
}

const mostDoublePayers = 50

/** The first customers who pay for several plans. For operators. */
export async function listDoublePayers(tx: Tx): Promise<DoublePayer[]> {
  const rows = await tx.sql<Omit<DoublePayer, 'userId'> & { userId: string | null }>`
    SELECT customer, user_id AS "userId", email, subscriptions
    FROM list_double_payers(${mostDoublePayers}::int)`
  return rows.map((row) => ({ ...row, userId: row.userId === null ? null : Number(row.userId) }))
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
    case 'has-another':
      return new Problem('conflict', { detail: customerRefusals['has-another'] })
  }
}

/** How to name a user, for the message that none was found, which surprises people whose address is only claimed. */
export const userRemedy =
  'Give the id of a user, or an email address that a user has verified: through a provider that OIDC_<NAME>_TRUST_EMAIL trusts for it, which by default is none.'

export const customerRefusals: Readonly<Record<CustomerRefusal, string>> = {
  'no-user': 'There is no such user.',
  'has-another': 'This user has another billing customer. Unlink that one first.',
}
