import type { Tx } from '#src/db/database.ts'
import { publish } from '#src/webhooks/events/publish.ts'

/** Who has the plan, and the tenant that is told of it: the user's own. */
export type Subscriber = { readonly userId: number; readonly tenantId: string }

/** The first activation sets the plan (specification, States); every later one finds it set. */
export async function activatePlan(
  tx: Tx,
  { userId, tenantId }: Subscriber,
  now: Date,
): Promise<void> {
  const plan = 'pro'
  const { count } = await tx.user.updateMany({ where: { id: userId, plan: null }, data: { plan } })
  if (count === 0) return
  await publish(tx, { tenantId }, { type: 'subscription.activated', data: { userId, plan } }, now)
}
