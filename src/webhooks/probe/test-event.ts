import type { TenantPrincipal } from '#src/access/caller.ts'
import { type Actor, recordChange } from '#src/audit/audit.ts'
import { randomId } from '#src/crypto/hash.ts'
import type { Database } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { type SendResult, succeeded } from '#src/webhooks/client/sender.ts'
import { type AttemptDeps, attemptDelivery } from '#src/webhooks/delivery/attempt.ts'
import type { Target } from '#src/webhooks/delivery/claim.ts'
import { exampleData } from '#src/webhooks/events/examples.ts'
import { endpointTest } from '#src/webhooks/events/program-kinds.ts'
import { composeEvent, currentCause } from '#src/webhooks/events/publish.ts'
import { thinBody } from '#src/webhooks/events/thin-body.ts'
import type { EventType } from '#src/webhooks/events/types.ts'
import { type Delivery, findDelivery } from '#src/webhooks/history/deliveries.ts'
import { statusColumns } from '#src/webhooks/history/filter.ts'
import { awaitCall, type CallDeps, requestCall } from './call.ts'

/** The type of a test that names none. */
export const testType = endpointTest.type

type Test = {
  endpointId: string
  /** Any but `endpoint.test` is sent with example data. */
  type: EventType
}

/** The user of example data that a service asks for. */
const exampleUser = 1

/** A test event that a worker has sent. Dates are text, because it was stored as JSON. */
type SentTest = {
  event: { id: string; body: string }
  createdAt: string
  finishedAt: string
  /** What is stored of the attempt. */
  result: Omit<SendResult, 'startedAt' | 'certificateExpiresAt' | 'retryAfterSeconds'> & {
    startedAt: string
  }
}

/**
 * Lets a worker send one test event to an endpoint of the tenant, whichever types it has chosen, through
 * the same address guard as every delivery, and waits for the response. Event, delivery and attempt are
 * written together afterwards, so that a crash in between leaves nothing behind. The attempt is not retried
 * and does not affect the health of the endpoint. The right is checked before the attempt and again when it
 * is recorded.
 * @returns null if the endpoint is missing or another tenant's
 * @throws what `awaitCall` throws; nothing is recorded
 */
export async function sendTest(
  db: Database,
  entry: Entry<Pick<TenantPrincipal, 'userId' | 'tenantId'>>,
  { endpointId, type }: Test,
  deps: CallDeps & Pick<Actor, 'clientInfo'>,
): Promise<Delivery | null> {
  const call = await db.write(entry, async (tx, { userId, tenantId }) => {
    const where = { tenantId, id: endpointId }
    if ((await tx.webhookEndpoint.count({ where })) === 0) return null
    const job = { kind: 'test', tenantId, endpointId, type, userId } as const
    return requestCall(tx, deps, job)
  })
  const sent = call === null ? null : await awaitCall<SentTest>(deps, call)
  if (sent === null) return null
  const { event, createdAt, finishedAt, result } = sent
  const example = type !== testType
  const isSuccess = succeeded(result)
  const delivery = {
    id: randomId(),
    endpointId,
    eventId: event.id,
    eventType: type,
    status: isSuccess ? 'succeeded' : 'exhausted',
    example,
    attempts: 1,
    storedAttempts: 1,
    storedBytes: Buffer.byteLength(
      `${result.error ?? ''}${result.cause ?? ''}${result.responseExcerpt ?? ''}`,
    ),
    createdAt,
    finishedAt,
    ...statusColumns(result.statusCode),
  }

  return db.write(entry, async (tx, { userId, tenantId }) => {
    // The endpoint may have been deleted during the attempt, and is not deleted before this commit.
    const present = await tx.sql`
      SELECT FROM webhook_endpoints
      WHERE tenant_id = ${tenantId}::uuid AND id = ${endpointId}::uuid FOR KEY SHARE`
    if (present.length === 0) return null
    await tx.sql`
      INSERT INTO outbound_events (tenant_id, id, type, body, created_at, example, cause, traceparent)
      VALUES (${tenantId}::uuid, ${event.id}, ${type}, ${event.body}, ${createdAt}::timestamptz, ${example},
              ${currentCause})`
    await tx.delivery.createMany({ data: { tenantId, ...delivery } })
    const attempt = { tenantId, deliveryId: delivery.id, series: 0, number: 1, ...result }
    await tx.deliveryAttempt.createMany({ data: attempt })
    const reason = isSuccess ? 'succeeded' : 'failed'
    const by = { userId, tenantId, clientInfo: deps.clientInfo }
    await recordChange(tx, by, { action: 'endpoint-test', reason, target: endpointId })
    return findDelivery(tx, by, delivery.id)
  })
}

type TestTarget = Target & { thin: boolean }

/** Composes and sends the event of a test; for workers. @throws PostponedError */
export async function makeTest(
  endpoint: TestTarget,
  test: { tenantId: string; endpointId: string; type: string; userId: number | null },
  deps: AttemptDeps,
): Promise<SentTest> {
  const type = test.type as EventType // `sendTest` writes it
  const createdAt = deps.clock.now()
  const ids = { ...test, userId: test.userId ?? exampleUser }
  const event = composeEvent(type, exampleData(type, ids, createdAt), createdAt)
  const sent = endpoint.thin ? { ...event, body: thinBody(event.body) } : event
  const made = await attemptDelivery({ event: sent, endpoint }, deps)
  const { certificateExpiresAt: _, retryAfterSeconds: __, startedAt, ...result } = made
  return {
    event,
    createdAt: createdAt.toISOString(),
    finishedAt: deps.clock.now().toISOString(),
    result: { ...result, startedAt: startedAt.toISOString() },
  }
}
