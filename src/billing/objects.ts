import type { Database, Tx } from '#src/db/database.ts'
import { withoutScope } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { oneStatement } from '#src/db/sql.ts'
import type { CurrentSubscription } from '#src/domain/plans.ts'
import type { Effect, SubscriptionState } from './effect.ts'

/*
 * What is known of the provider's subscriptions, payments, refunds and disputes. They are kept apart
 * from users and invoices, so that they may arrive in any order.
 */

/** The newest `created` applied to an object of the provider, Unix seconds. */
export type ObjectState = { newestCreated: number | null }

export async function findObjectState(db: Database, objectId: string): Promise<ObjectState | null> {
  return db.read(
    withoutScope,
    oneStatement(
      Prisma.sql`
        SELECT newest_created AS "newestCreated" FROM billing_objects WHERE object_id = ${objectId}`,
      ([row]: ObjectState[]) => row ?? null,
    ),
  )
}

/** The customer of a payment; null if the payment is not known. */
export async function findPayer(db: Database, payment: string): Promise<string | null> {
  return db.read(
    withoutScope,
    oneStatement(
      Prisma.sql`SELECT customer FROM billing_objects WHERE object_id = ${payment}`,
      ([row]: { customer: string | null }[]) => row?.customer ?? null,
    ),
  )
}

type NewSubscription = {
  objectId: string
  customer: string
  created: number | null
  state: SubscriptionState
  plan: string | null
}

export async function putSubscription(tx: Tx, subscription: NewSubscription, now: Date) {
  const { objectId, customer, created, state, plan } = subscription
  await tx.sql`
    INSERT INTO billing_objects AS stored
      (object_id, kind, customer, status, plan, period_end, cancels_at, newest_created, updated_at)
    VALUES (${objectId}, 'subscription', ${customer}, ${state.status}, ${plan},
            to_timestamp(${state.periodEnd}), to_timestamp(${state.cancelsAt}), ${created}, ${now})
    ON CONFLICT (object_id) DO UPDATE SET
      customer = excluded.customer, status = excluded.status, plan = excluded.plan,
      period_end = excluded.period_end, cancels_at = excluded.cancels_at,
      newest_created = GREATEST(stored.newest_created, excluded.newest_created),
      revision = stored.revision + 1, updated_at = excluded.updated_at`
}

/** The subscription that decides the plan of a customer; null without any. */
export async function findLeading(tx: Tx, customer: string): Promise<CurrentSubscription | null> {
  const [row] = await tx.sql<CurrentSubscription>`
    SELECT plan, status, period_end AS "periodEnd", cancels_at AS "cancelsAt"
    FROM leading_subscription(${customer})`
  return row ?? null
}

/**
 * Notes that there is a payment, and locks it: what else is known of it waits for this transaction.
 * @param customer null if only a refund or a dispute names the payment
 * @returns the customer that was known before
 */
export async function lockPayment(
  tx: Tx,
  payment: string,
  customer: string | null,
  now: Date,
): Promise<string | null> {
  await tx.sql`
    INSERT INTO billing_objects (object_id, kind, updated_at) VALUES (${payment}, 'payment', ${now})
    ON CONFLICT DO NOTHING`
  const [row] = await tx.sql<{ customer: string | null }>`
    SELECT customer FROM billing_objects WHERE object_id = ${payment} FOR UPDATE`
  const known = row?.customer ?? null
  if (known === null && customer !== null) {
    await tx.sql`
      UPDATE billing_objects SET customer = ${customer}, revision = revision + 1, updated_at = ${now}
      WHERE object_id = ${payment}`
  }
  return known
}

/** Keeps a refund or a dispute of a payment. Of a dispute the newest state counts. */
export async function putClaim(
  tx: Tx,
  effect: Extract<Effect, { kind: 'refund' | 'dispute' }>,
  created: number | null,
  now: Date,
): Promise<void> {
  const { kind, customer, payment } = effect
  const isRefund = kind === 'refund'
  const objectId = isRefund ? effect.refund : effect.dispute
  const status = isRefund ? null : effect.isOpen ? 'open' : 'closed'
  await tx.sql`
    INSERT INTO billing_objects AS stored
      (object_id, kind, customer, payment, status, amount, newest_created, updated_at)
    VALUES (${objectId}, ${kind}, ${customer}, ${payment}, ${status},
            ${isRefund ? effect.amount : null}::bigint, ${created}, ${now})
    ON CONFLICT (object_id) DO UPDATE SET
      status = excluded.status, amount = excluded.amount,
      newest_created = excluded.newest_created,
      revision = stored.revision + 1, updated_at = excluded.updated_at
    WHERE stored.newest_created IS NULL OR excluded.newest_created >= stored.newest_created`
}

/** What refunds and disputes say about a payment. */
export async function findClaims(
  tx: Tx,
  payment: string,
): Promise<{ refunded: number; isDisputed: boolean }> {
  const [row] = await tx.sql<{ refunded: bigint | string; isDisputed: boolean }>`
    SELECT coalesce(sum(amount) FILTER (WHERE kind = 'refund'), 0)::bigint AS refunded,
           coalesce(bool_or(status = 'open') FILTER (WHERE kind = 'dispute'), false) AS "isDisputed"
    FROM billing_objects WHERE payment = ${payment}`
  return { refunded: Number(row?.refunded ?? 0), isDisputed: row?.isDisputed ?? false }
}
