import { type Actor, recordChange } from '#src/audit/audit.ts'
import { randomId } from '#src/crypto/hash.ts'
import type { Database } from '#src/db/database.ts'
import { composeEvent } from '#src/webhooks/events/publish.ts'
import { type AttemptDeps, attemptDelivery, succeeded } from './attempt.ts'
import { type Delivery, findDelivery } from './deliveries.ts'
import type { SignatureProfile } from './signature.ts'

const type = 'endpoint.test'

/**
 * Sends one `endpoint.test` to an endpoint of the tenant, through the same address guard as every
 * delivery, and waits for the response. Event, delivery and attempt are written together afterwards,
 * so that a crash in between leaves nothing behind. The attempt is not retried and does not affect
 * the health of the endpoint.
 * @returns null if the endpoint is missing or another tenant's
 */
export async function sendTest(
  db: Database,
  deps: AttemptDeps,
  by: Actor,
  endpointId: string,
): Promise<Delivery | null> {
  const { tenantId } = by
  const where = { tenantId, id: endpointId }
  const endpoint = await db.read(by, (tx) => tx.webhookEndpoint.findFirst({ where }))
  if (endpoint === null) return null
  const createdAt = deps.clock.now()
  const event = composeEvent(type, { endpointId }, createdAt)
  const signature = endpoint.signature as SignatureProfile // webhook_endpoints_signature_check
  const result = await attemptDelivery({ event, endpoint: { ...endpoint, signature } }, deps)
  const isSuccess = succeeded(result)
  const delivery = {
    tenantId,
    id: randomId(),
    endpointId,
    eventId: event.id,
    eventType: type,
    status: isSuccess ? 'succeeded' : 'exhausted',
    attempts: 1,
    createdAt,
    finishedAt: deps.clock.now(),
  }

  return db.write(by, async (tx) => {
    // The endpoint may have been deleted during the attempt.
    if ((await tx.webhookEndpoint.count({ where })) === 0) return null
    await tx.outboundEvent.createMany({ data: { tenantId, type, createdAt, ...event } })
    await tx.delivery.createMany({ data: delivery })
    const attempt = { tenantId, deliveryId: delivery.id, series: 0, number: 1, ...result }
    await tx.deliveryAttempt.createMany({ data: attempt })
    const reason = isSuccess ? 'succeeded' : 'failed'
    await recordChange(tx, by, { action: 'endpoint-test', reason, target: endpointId })
    return findDelivery(tx, by, delivery.id)
  })
}
