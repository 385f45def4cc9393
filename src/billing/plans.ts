import type { Tx } from '#src/db/database.ts'
import {
  subscriptionActivated,
  subscriptionChanged,
  subscriptionEnded,
} from '#src/webhooks/events/program-kinds.ts'
import { publish } from '#src/webhooks/events/publish.ts'

/** The user of the plan, and their own tenant, which gets the event. */
export type Subscriber = { readonly userId: number; readonly tenantId: string }

/** The state of a user whose subscription has moved to another customer. */
export const endedSubscription: CurrentSubscription = {
  plan: null,
  status: 'canceled',
  periodEnd: null,
  cancelsAt: null,
}

/** The subscription that decides a plan. */
export type CurrentSubscription = {
  plan: string | null
  status: string
  periodEnd: Date | null
  cancelsAt: Date | null
}

type Stored = Omit<CurrentSubscription, 'status'> & { status: string | null }

/** Waits for other changes of the user's subscription, until the transaction ends. */
export async function lockPlan(tx: Tx, { userId }: Subscriber): Promise<Stored | null> {
  const [row] = await tx.sql<Stored>`
    SELECT plan, subscription_status AS status, subscription_period_end AS "periodEnd",
           subscription_cancels_at AS "cancelsAt"
    FROM users WHERE id = ${userId} FOR UPDATE`
  return row ?? null
}

/**
 * Sets the user's plan to that of their subscription, and publishes what has changed.
 * @param before as `lockPlan` returned it
 */
export async function changePlan(
  tx: Tx,
  { userId, tenantId }: Subscriber,
  before: Stored,
  next: CurrentSubscription,
  now: Date,
): Promise<void> {
  if (isSame(before, next)) return
  const { plan, status, periodEnd, cancelsAt } = next
  await tx.sql`
    UPDATE users SET plan = ${plan}, subscription_status = ${status},
      subscription_period_end = ${periodEnd}::timestamptz,
      subscription_cancels_at = ${cancelsAt}::timestamptz
    WHERE id = ${userId}`
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
}: Omit<CurrentSubscription, 'plan'>) {
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
    a.periodEnd?.getTime() === b.periodEnd?.getTime() &&
    a.cancelsAt?.getTime() === b.cancelsAt?.getTime()
  )
}
