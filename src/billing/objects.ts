import type { PaymentState } from '#src/billing/invoices.ts'
import type { CurrentSubscription } from '#src/billing/plans.ts'
import type { Database, Tx } from '#src/db/database.ts'
import { withoutScope } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { oneStatement } from '#src/db/sql.ts'
import type { SubscriptionDetails } from './details.ts'
import type { Effect, SubscriptionState } from './effect.ts'

/*
 * What is known of the provider's subscriptions, payments, refunds and disputes. They are kept apart
 * from users and invoices, so that they may arrive in any order.
 */

/** What was applied to an object of the provider. */
export type ObjectState = {
  customer: string | null
  status: string | null
  /** `created` of the newest event that was applied, in Unix seconds. */
  newestCreated: number | null
  newestEvent: string | null
}

export async function findObjectState(db: Database, objectId: string): Promise<ObjectState | null> {
  return db.read(
    withoutScope,
    oneStatement(
      Prisma.sql`
        SELECT customer, status, newest_created AS "newestCreated", newest_event AS "newestEvent"
        FROM billing_objects WHERE object_id = ${objectId}`,
      ([row]: ObjectState[]) => row ?? null,
    ),
  )
}

/** Whether there is an invoice of a payment. */
export async function isPaymentKnown(db: Database, payment: string): Promise<boolean> {
  return db.read(
    withoutScope,
    oneStatement(
      Prisma.sql`SELECT FROM billing_objects WHERE object_id = ${payment} AND customer IS NOT NULL`,
      (rows: object[]) => rows.length > 0,
    ),
  )
}

type NewSubscription = {
  objectId: string
  customer: string
  eventId: string
  created: number | null
  state: SubscriptionState
  plan: string | null
  /** The position of the plan in the operator's list. */
  rank: number | null
  /** How many people it is for. */
  seats: number | null
  details: SubscriptionDetails | null
}

/**
 * @param seen what was applied to it when the effect was decided; undefined if that was not looked at
 * @throws if something else was applied since then. After a failover it may have been read on a standby that had
 *   not replayed the newest event.
 */
export async function putSubscription(
  tx: Tx,
  subscription: NewSubscription,
  seen: ObjectState | null | undefined,
  now: Date,
): Promise<void> {
  const { objectId, customer, eventId, created, state, plan, rank, seats, details } = subscription
  const put = await tx.sql`
    INSERT INTO billing_objects AS stored
      (object_id, kind, customer, status, plan, plan_rank, seats, details, period_end, cancels_at, newest_created, newest_event,
       updated_at, beside)
    VALUES (${objectId}, 'subscription', ${customer}, ${state.status}, ${plan}, ${rank}, ${seats},
            ${details === null ? null : JSON.stringify(details)}::jsonb,
            to_timestamp(${state.periodEnd}), to_timestamp(${state.cancelsAt}), ${created},
            ${eventId}, ${now}, (
              SELECT other.object_id FROM billing_objects other
              WHERE ${plan}::text IS NOT NULL AND other.customer = ${customer}
                AND other.kind = 'subscription' AND other.object_id <> ${objectId}
                AND other.plan IS NOT NULL AND coalesce(other.cancels_at > ${now}, true)
              ORDER BY other.object_id LIMIT 1))
    ON CONFLICT (object_id) DO UPDATE SET
      customer = excluded.customer, status = excluded.status, plan = excluded.plan,
      plan_rank = excluded.plan_rank, seats = excluded.seats, details = excluded.details,
      period_end = excluded.period_end, cancels_at = excluded.cancels_at, beside = excluded.beside,
      newest_created = GREATEST(stored.newest_created, excluded.newest_created),
      newest_event = CASE WHEN excluded.newest_created < stored.newest_created
        THEN stored.newest_event ELSE excluded.newest_event END,
      revision = stored.revision + 1, updated_at = excluded.updated_at
    WHERE ${seen === undefined} OR (
      stored.newest_event IS NOT DISTINCT FROM ${seen?.newestEvent ?? null}::text
      AND stored.newest_created IS NOT DISTINCT FROM ${seen?.newestCreated ?? null}::float8
      AND stored.customer IS NOT DISTINCT FROM ${seen?.customer == null ? null : customer}::text)
    RETURNING object_id`
  if (put.length === 0) throw new Error('the subscription has changed since it was read')
}

/** Takes a subscription from the customer that had it. */
export async function moveSubscription(
  tx: Tx,
  objectId: string,
  { from, to }: { from: string; to: string },
  now: Date,
): Promise<void> {
  await tx.sql`
    UPDATE billing_objects SET customer = ${to}, beside = NULL, revision = revision + 1, updated_at = ${now}
    WHERE object_id = ${objectId} AND customer = ${from}`
}

/** The subscription that decides the plan of a customer; null without any. */
export async function findLeading(tx: Tx, customer: string): Promise<CurrentSubscription | null> {
  const [row] = await tx.sql<CurrentSubscription>`
    SELECT plan, status, period_end AS "periodEnd", cancels_at AS "cancelsAt", seats::int AS seats
    FROM leading_subscription(${customer})`
  return row ?? null
}

/**
 * Stores that there is a payment, and locks it: other transactions about it wait for this one.
 * @returns the tenant of its invoice; null without one
 */
export async function lockPayment(
  tx: Tx,
  payment: string,
  now: Date,
): Promise<{ tenant: string } | null> {
  await tx.sql`
    INSERT INTO billing_objects (object_id, kind, updated_at) VALUES (${payment}, 'payment', ${now})
    ON CONFLICT DO NOTHING`
  const [row] = await tx.sql<{ tenant: string | null }>`
    SELECT invoice_tenant AS tenant FROM billing_objects WHERE object_id = ${payment} FOR UPDATE`
  const tenant = row?.tenant ?? null
  return tenant === null ? null : { tenant }
}

/** Notes who has paid, and which tenant gets the invoice. */
export async function putPayer(
  tx: Tx,
  payment: string,
  { customer, tenantId }: { customer: string; tenantId: string },
): Promise<void> {
  await tx.sql`
    UPDATE billing_objects
    SET customer = ${customer}, invoice_tenant = ${tenantId}::uuid, revision = revision + 1
    WHERE object_id = ${payment}`
}

/**
 * Keeps what a payment says about its refunds. The newest state counts; of two states of one second,
 * the larger amount.
 */
export async function putRefunded(
  tx: Tx,
  payment: string,
  refunded: number,
  created: number | null,
  now: Date,
): Promise<void> {
  await tx.sql`
    UPDATE billing_objects SET
      amount = CASE WHEN newest_created = ${created} THEN GREATEST(amount, ${refunded}::bigint)
        ELSE ${refunded}::bigint END,
      newest_created = COALESCE(${created}, newest_created),
      revision = revision + 1, updated_at = ${now}
    WHERE object_id = ${payment}
      AND (newest_created IS NULL OR ${created}::float8 IS NULL OR newest_created <= ${created})`
}

/** Corrects what a payment has said about its refunds, after one of them has failed; not what it says later. */
export async function lowerRefunded(
  tx: Tx,
  payment: string,
  remaining: number,
  created: number | null,
  now: Date,
): Promise<void> {
  await tx.sql`
    UPDATE billing_objects SET amount = LEAST(amount, ${remaining}::bigint),
      revision = revision + 1, updated_at = ${now}
    WHERE object_id = ${payment}
      AND (newest_created IS NULL OR ${created}::float8 IS NULL OR newest_created <= ${created})`
}

/**
 * Keeps a refund or a dispute of a payment. Of a dispute the newest state counts. A refund that failed
 * keeps the time of its failure when later events repeat it, because `findClaims` compares that time.
 */
export async function putClaim(
  tx: Tx,
  effect: Extract<Effect, { kind: 'refund' | 'dispute' }>,
  created: number | null,
  now: Date,
): Promise<void> {
  const { kind, customer, payment } = effect
  const isRefund = kind === 'refund'
  const objectId = isRefund ? effect.refund : effect.dispute
  const status = isRefund ? (effect.isFailed ? 'failed' : null) : effect.state
  await tx.sql`
    INSERT INTO billing_objects AS stored
      (object_id, kind, customer, payment, status, amount, newest_created, updated_at)
    VALUES (${objectId}, ${kind}, ${customer}, ${payment}, ${status},
            ${isRefund ? (effect.remaining === null ? effect.amount : 0) : null}::bigint, ${created},
            ${now})
    ON CONFLICT (object_id) DO UPDATE SET
      status = excluded.status, amount = excluded.amount,
      newest_created = CASE WHEN stored.status = 'failed' AND excluded.status = 'failed'
        THEN stored.newest_created ELSE excluded.newest_created END,
      revision = stored.revision + 1, updated_at = excluded.updated_at
    WHERE stored.newest_created IS NULL OR excluded.newest_created >= stored.newest_created`
}

/**
 * The refunded amount of a payment, and its dispute. A failed refund is not subtracted if the provider
 * was asked for the rest. Otherwise it is subtracted from what the payment reported before the failure;
 * later reports are taken to leave it out.
 */
export async function findClaims(tx: Tx, payment: string): Promise<PaymentState> {
  const [row] = await tx.sql<{ refunded: bigint | string; dispute: PaymentState['dispute'] }>`
    SELECT GREATEST(0, coalesce(max(p.amount), 0) + coalesce(sum(
             CASE WHEN c.status IS NULL THEN c.amount
                  WHEN c.newest_created < p.newest_created THEN 0
                  ELSE -c.amount END) FILTER (WHERE c.kind = 'refund'), 0))::bigint AS refunded,
           CASE WHEN bool_or(c.kind = 'dispute' AND c.status = 'open') THEN 'open'
                WHEN bool_or(c.kind = 'dispute' AND c.status = 'lost') THEN 'lost' END AS dispute
    FROM billing_objects p LEFT JOIN billing_objects c ON c.payment = p.object_id
    WHERE p.object_id = ${payment}`
  return { refunded: Number(row?.refunded ?? 0), dispute: row?.dispute ?? null }
}
