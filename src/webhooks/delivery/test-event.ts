import { type Actor, recordChange } from '#src/audit/audit.ts'
import { randomId } from '#src/crypto/hash.ts'
import type { Database } from '#src/db/database.ts'
import { composeEvent } from '#src/webhooks/events/publish.ts'
import { type AttemptDeps, attemptDelivery, succeeded } from './attempt.ts'
import { type Delivery, findDelivery } from './deliveries.ts'
import type { SignatureProfile } from './signature.ts'

const type = 'endpoint.test'

/**
 * Sends one `endpoint.test` to an endpoint of the tenant, through the guard as every delivery, and
 * waits for the answer. Nothing is written before it is there, and then event, delivery and attempt
 * at once: a process that ends in between leaves nothing half done. The test is an attempt of its
 * own; it counts neither against the endpoint nor for it, and is not repeated.
 * @returns null when the endpoint is missing or not theirs
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
  // Written through the schemas of the routes alone.
  const signature = endpoint.signature as SignatureProfile
  const result = await attemptDelivery({ event, endpoint: { ...endpoint, signature } }, deps)
  const wentWell = succeeded(result)
  const delivery = {
    tenantId,
    id: randomId(),
    endpointId,
    eventId: event.id,
    eventType: type,
    status: wentWell ? 'succeeded' : 'exhausted',
    attempts: 1,
    createdAt,
    finishedAt: deps.clock.now(),
  }

  return db.write(by, async (tx) => {
    // Removed while its answer was waited for, there is nothing left to tell of.
    if ((await tx.webhookEndpoint.count({ where })) === 0) return null
    await tx.outboundEvent.createMany({ data: { tenantId, type, createdAt, ...event } })
    await tx.delivery.createMany({ data: delivery })
    const attempt = { tenantId, deliveryId: delivery.id, series: 0, number: 1, ...result }
    await tx.deliveryAttempt.createMany({ data: attempt })
    const reason = wentWell ? 'succeeded' : 'failed'
    await recordChange(tx, by, { action: 'endpoint-test', reason, target: endpointId })
    return findDelivery(tx, by, delivery.id)
  })
}
