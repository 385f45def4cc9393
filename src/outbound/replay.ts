import { type Actor, recordChange } from '#src/audit/audit.ts'
import type { Tx } from '#src/db/database.ts'
import { type Delivery, findDelivery } from '#src/webhooks/delivery/deliveries.ts'
import { startSeries } from '#src/webhooks/delivery/resend.ts'
import { findEndpoint } from '#src/webhooks/endpoints/endpoints.ts'

/**
 * Sends a delivery of the tenant once more, by the schedule from its first attempt on. Asked for
 * again before that attempt is made, it stays one.
 * @returns null when it is missing or not theirs; `disabled` when its endpoint takes nothing
 */
export async function replayDelivery(
  tx: Tx,
  by: Actor,
  id: string,
  now: Date,
): Promise<Delivery | 'disabled' | null> {
  const delivery = await findDelivery(tx, by, id)
  const endpoint = delivery && (await findEndpoint(tx, by, delivery.endpointId))
  if (!endpoint) return null
  if (endpoint.status === 'disabled') return 'disabled'
  const begun = await startSeries(tx, by, [id], now)
  if (begun.length > 0) {
    await recordChange(tx, by, { action: 'delivery-replay', reason: 'own-request', target: id })
  }
  return findDelivery(tx, by, id)
}
