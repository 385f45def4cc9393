import Type from 'typebox'
import type { Tx } from '#src/db/database.ts'
import { Id } from '#src/http/schemas.ts'
import { publish } from '#src/webhooks/events/publish.ts'
import { eventKind } from '#src/webhooks/events/types.ts'

const Subscription = Type.Object(
  { userId: Id, plan: Type.Literal('pro') },
  { title: 'Subscription' },
)

export const subscriptionActivated = eventKind(
  'subscription.activated',
  'A user’s subscription was activated for the first time; sent to their own tenant',
  Subscription,
)

/** The user of the plan, and their own tenant, which gets the event. */
export type Subscriber = { readonly userId: number; readonly tenantId: string }

/** Sets the plan at the first activation (specification, States). Later ones change nothing. */
export async function activatePlan(
  tx: Tx,
  { userId, tenantId }: Subscriber,
  now: Date,
): Promise<void> {
  const plan = 'pro'
  const { count } = await tx.user.updateMany({ where: { id: userId, plan: null }, data: { plan } })
  if (count === 0) return
  await publish(tx, { tenantId }, { kind: subscriptionActivated, data: { userId, plan } }, now)
}
