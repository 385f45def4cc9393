import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import {
  subscriptionActivated,
  subscriptionChanged,
  subscriptionEnded,
} from '#src/webhooks/events/program-kinds.ts'
import { publish } from '#src/webhooks/events/publish.ts'

/** The user of the plan, and their own tenant, which gets the event; without a user the tenant itself has the plan. */
export type Subscriber = { readonly userId: number | null; readonly tenantId: string }

/** The state of a holder whose subscription has moved to another customer. */
export const endedSubscription: CurrentSubscription = {
  plan: null,
  status: 'canceled',
  periodEnd: null,
  cancelsAt: null,
  seats: null,
}

/** The subscription that decides a plan. */
export type CurrentSubscription = {
  plan: string | null
  status: string
  periodEnd: Date | null
  cancelsAt: Date | null
  /** How many people a tenant has bought it for; null for a person, and if the provider does not say it. */
  seats: number | null
}

type Stored = Omit<CurrentSubscription, 'status'> & { status: string | null }

/** Waits for other changes of the holder's subscription, until the transaction ends. */
export async function lockPlan(tx: Tx, { userId, tenantId }: Subscriber): Promise<Stored | null> {
  const columns = Prisma.sql`plan, subscription_status AS status,
    subscription_period_end AS "periodEnd", subscription_cancels_at AS "cancelsAt"`
  // The writes of a tenant hold it FOR KEY SHARE, which this lock lets pass.
  const [row] =
    userId === null
      ? await tx.sql<Stored>`
          SELECT ${columns}, seats::int AS seats FROM tenants
          WHERE id = ${tenantId}::uuid FOR NO KEY UPDATE`
      : await tx.sql<Stored>`
          SELECT ${columns}, NULL::int AS seats FROM users WHERE id = ${userId} FOR UPDATE`
  return row ?? null
}

/**
 * Sets the holder's plan to that of their subscription, and publishes what has changed.
 * @param before as `lockPlan` returned it
 */
export async function changePlan(
  tx: Tx,
  { userId, tenantId }: Subscriber,
  before: Stored,
  leading: CurrentSubscription,
  now: Date,
): Promise<void> {
  const next = { ...leading, seats: userId === null ? leading.seats : null }
  if (isSame(before, next)) return
  const { plan, status, periodEnd, cancelsAt, seats } = next
  const values = Prisma.sql`plan = ${plan}, subscription_status = ${status},
    subscription_period_end = ${periodEnd}::timestamptz,
    subscription_cancels_at = ${cancelsAt}::timestamptz`
  if (userId === null) {
    await tx.sql`UPDATE tenants SET ${values}, seats = ${seats} WHERE id = ${tenantId}::uuid`
  } else await tx.sql`UPDATE users SET ${values} WHERE id = ${userId}`
  const data = { userId, plan, ...toSubscription(next) }
  if (before.plan === null && plan !== null) {
    await publish(tx, { tenantId }, { kind: subscriptionActivated, data: { userId, plan } }, now)
  } else if (before.plan !== null) {
    const kind = plan === null ? subscriptionEnded : subscriptionChanged
    await publish(tx, { tenantId }, { kind, data }, now)
  }
}

/** A subscription as the API returns it. */
export function toSubscription({
  status,
  periodEnd,
  cancelsAt,
}: Omit<CurrentSubscription, 'plan' | 'seats'>) {
  return {
    status,
    currentPeriodEnd: periodEnd?.toISOString() ?? null,
    cancelsAt: cancelsAt?.toISOString() ?? null,
  }
}

function isSame(a: Stored, b: Stored): boolean {
  return (
    a.plan === b.plan &&
    a.status === b.status &&
    a.seats === b.seats &&
    a.periodEnd?.getTime() === b.periodEnd?.getTime() &&
    a.cancelsAt?.getTime() === b.cancelsAt?.getTime()
  )
}
