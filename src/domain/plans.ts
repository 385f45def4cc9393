import Type from 'typebox'
import type { Tx } from '#src/db/database.ts'
import { Id, Nullable, Time } from '#src/http/schemas.ts'
import { publish } from '#src/webhooks/events/publish.ts'
import { eventKind } from '#src/webhooks/events/types.ts'

const Activation = Type.Object(
  { userId: Id, plan: Type.String() },
  { title: 'SubscriptionActivation' },
)

export const subscriptionActivated = eventKind(
  'subscription.activated',
  'A user’s subscription gave them a plan that they did not have; sent to their own tenant',
  Activation,
)

/** What a user sees of the subscription that decides their plan. */
export const Subscription = Type.Object(
  {
    status: Type.String({
      description:
        '`active`, `trialing`, `past_due` (the plan stays), `unpaid`, `paused`, `canceled`, `incomplete` or `incomplete_expired`',
    }),
    currentPeriodEnd: Nullable(Time),
    cancelsAt: Nullable(
      Type.String({ ...Time, description: 'When it ends, because somebody has cancelled it' }),
    ),
  },
  { title: 'Subscription' },
)

const SubscriptionChange = Type.Object(
  { userId: Id, plan: Nullable(Type.String()), ...Subscription.properties },
  { title: 'SubscriptionChange' },
)

export const subscriptionChanged = eventKind(
  'subscription.changed',
  'A user’s subscription has another plan, status, period or end; sent to their own tenant',
  SubscriptionChange,
)

export const subscriptionEnded = eventKind(
  'subscription.ended',
  'A user’s subscription ended and with it their plan; sent to their own tenant',
  SubscriptionChange,
)

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
