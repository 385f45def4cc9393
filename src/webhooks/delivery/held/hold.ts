import type { PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { grantDeliveries } from '#src/webhooks/schedule/rate-limit.ts'
import { planDrain } from './drain.ts'

/** An attempt that is due to an endpoint with a rate limit, or to one that is paused. */
export type LimitedAttempt = {
  deliveryId: string
  endpointId: string
  /** When the delivery was created: the oldest go first. */
  createdAt: Date
}

/**
 * Holds deliveries beyond the rate limits of their endpoints, and all of a paused one: nothing is due to
 * them until `drainEndpoint` releases them, so that a backlog occupies no slots.
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
      s.trial_delivery_id AS "trialDeliveryId", s.paused = 'hold' AS "isPaused"
    FROM webhook_endpoints e JOIN endpoint_states s ON s.tenant_id = e.tenant_id AND s.id = e.id
    WHERE e.tenant_id = ${tenantId}::uuid AND e.id = ANY (${[...byEndpoint.keys()]}::uuid[])
      AND (e.rate_per_second IS NOT NULL OR s.paused = 'hold')
    ORDER BY e.id FOR NO KEY UPDATE OF e, s`
  const held: LimitedAttempt[] = []
  for (const { id, nextAt, trialDeliveryId, isPaused, perSecond, burst } of endpoints) {
    const own = byEndpoint.get(id) ?? []
    const granted =
      isPaused === true || perSecond === null || burst === null
        ? { waitsSeconds: [], nextAt }
        : grantDeliveries({ perSecond, burst }, nextAt, { wanted: own.length, aheadMs: 0 }, now)
    // A trial is held only by a pause, and is an ordinary attempt afterwards. Otherwise this is a replay of
    // its delivery, which must not look like a trial once it is released.
    const isReplayed = own.some(({ deliveryId }) => deliveryId === trialDeliveryId)
    const data = { rateNextAt: granted.nextAt, ...(isReplayed && { trialDeliveryId: null }) }
    await tx.endpointState.updateMany({ where: { tenantId, id }, data })
    const beyond = own.slice(granted.waitsSeconds.length)
    if (beyond.length === 0) continue
    held.push(...beyond)
    // The endpoint's state is locked, so a drain in progress sees these deliveries or leaves this job.
    if (isPaused !== true) await planDrain(tx, queue, scope, id)
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
  perSecond: number | null
  burst: number | null
  nextAt: Date | null
  trialDeliveryId: string | null
  isPaused: boolean | null
}
