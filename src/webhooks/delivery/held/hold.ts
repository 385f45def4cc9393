import type { PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { grantDeliveries } from '#src/webhooks/schedule/rate-limit.ts'
import { planDrain } from './drain.ts'

/** An attempt that is due to an endpoint with a rate limit. */
export type LimitedAttempt = {
  deliveryId: string
  endpointId: string
  /** When the delivery was created: the oldest go first. */
  createdAt: Date
}

/**
 * Holds deliveries beyond the rate limits of their endpoints: nothing is due to them until
 * `drainEndpoint` releases them, so that a backlog occupies no slots.
 * @param attempts of endpoints in turn
 * @returns ids of the deliveries that are held
 */
export async function holdBeyondLimit(
  tx: Tx,
  queue: PgBoss,
  scope: TenantScope,
  attempts: readonly LimitedAttempt[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const { tenantId } = scope
  const oldestFirst = attempts.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
  const byEndpoint = Map.groupBy(oldestFirst, ({ endpointId }) => endpointId)
  const endpoints = await tx.sql<LimitRow>`
    SELECT e.id, e.rate_per_second AS "perSecond", e.rate_burst AS burst, s.rate_next_at AS "nextAt",
      s.trial_delivery_id AS "trialDeliveryId"
    FROM webhook_endpoints e JOIN endpoint_states s ON s.tenant_id = e.tenant_id AND s.id = e.id
    WHERE e.tenant_id = ${tenantId}::uuid AND e.id = ANY (${[...byEndpoint.keys()]}::uuid[])
      AND e.rate_per_second IS NOT NULL
    ORDER BY e.id FOR NO KEY UPDATE OF e, s`
  const held: LimitedAttempt[] = []
  for (const { id, nextAt, trialDeliveryId, ...limit } of endpoints) {
    const own = byEndpoint.get(id) ?? []
    const granted = grantDeliveries(limit, nextAt, { wanted: own.length, aheadMs: 0 }, now)
    // A trial is not held: this is a replay of its delivery, which must not look like one once released.
    const isReplayed = own.some(({ deliveryId }) => deliveryId === trialDeliveryId)
    const data = { rateNextAt: granted.nextAt, ...(isReplayed && { trialDeliveryId: null }) }
    await tx.endpointState.updateMany({ where: { tenantId, id }, data })
    const beyond = own.slice(granted.waitsSeconds.length)
    if (beyond.length === 0) continue
    held.push(...beyond)
    // The endpoint's state is locked, so a drain in progress sees these deliveries or leaves this job.
    await planDrain(tx, queue, scope, id)
  }
  if (held.length === 0) return new Set()
  const ids = held.map(({ deliveryId }) => deliveryId)
  await tx.delivery.updateMany({
    where: { tenantId, id: { in: ids }, status: 'pending' },
    data: { heldFor: 'rate', nextAttemptAt: null },
  })
  await tx.dueAttempt.deleteMany({ where: { tenantId, deliveryId: { in: ids } } })
  return new Set(ids)
}

type LimitRow = {
  id: string
  perSecond: number
  burst: number
  nextAt: Date | null
  trialDeliveryId: string | null
}
