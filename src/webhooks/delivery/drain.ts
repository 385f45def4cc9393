import type { Job, PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Database, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { enterJobs } from '#src/queue/enter-jobs.ts'
import { addJob, transactionOf } from '#src/queue/jobs.ts'
import type { Jobs } from '#src/queue/queue.ts'
import { insertDeliverJobs } from './job.ts'
import { grantDeliveries } from './rate-limit.ts'

/** At most one job of an endpoint waits. It releases deliveries that are held. */
export const drainQueue = 'endpoint-drain'

const everySeconds = 2
const aheadMs = 4_000 // longer than until the next drain, so that none is late
const maxReleased = 5_000

/** Does a job: the release, the next job and the end of this one are one commit. */
export async function workDrain(
  db: Database,
  queue: PgBoss,
  { id, data }: Job<Jobs['endpoint-drain']>,
  now: Date,
): Promise<void> {
  await db.write(enterJobs(drainQueue, [id]), async (tx, scope) => {
    await queue.deleteJob(drainQueue, id, { db: transactionOf(tx) })
    await drainEndpoint(tx, queue, scope, data.endpointId, now)
  })
}

/**
 * Releases deliveries that are held for the rate limit of an endpoint, oldest first: as many as are
 * due until the next drain. Without a limit (it was removed, or the endpoint is disabled) all of them,
 * in portions.
 */
async function drainEndpoint(
  tx: Tx,
  queue: PgBoss,
  { tenantId }: TenantScope,
  endpointId: string,
  now: Date,
): Promise<void> {
  const [endpoint] = await tx.$queryRaw<EndpointRow[]>`
    SELECT status, rate_per_second AS "perSecond", rate_burst AS burst, rate_next_at AS "nextAt"
    FROM webhook_endpoints
    WHERE tenant_id = ${tenantId}::uuid AND id = ${endpointId}::uuid FOR NO KEY UPDATE`
  if (endpoint === undefined) return
  const { status, perSecond, burst, nextAt } = endpoint
  const isLimited = perSecond !== null && burst !== null && status !== 'disabled'
  const all = { waitsSeconds: Array<number>(maxReleased).fill(0), nextAt }
  const granted = isLimited
    ? grantDeliveries({ perSecond, burst }, nextAt, { wanted: maxReleased, aheadMs }, now)
    : all
  const released = await release(tx, { tenantId, endpointId }, granted.waitsSeconds, now)
  if (isLimited && released > 0) {
    const used = { wanted: released, aheadMs }
    const { nextAt: rateNextAt } = grantDeliveries({ perSecond, burst }, nextAt, used, now)
    await tx.webhookEndpoint.updateMany({
      where: { tenantId, id: endpointId },
      data: { rateNextAt },
    })
  }
  if (released < granted.waitsSeconds.length) return
  const next = { singletonKey: endpointId, startAfter: isLimited ? everySeconds : 0 }
  await addJob(queue, tx, drainQueue, { tenantId, endpointId }, next)
}

type EndpointRow = {
  status: string
  perSecond: number | null
  burst: number | null
  nextAt: Date | null
}

/** @returns how many were released: fewer than `waitsSeconds` has if no more are held */
async function release(
  tx: Tx,
  { tenantId, endpointId }: { tenantId: string; endpointId: string },
  waitsSeconds: readonly number[],
  now: Date,
): Promise<number> {
  if (waitsSeconds.length === 0) return 0
  const waits = JSON.stringify(waitsSeconds)
  const [row] = await tx.$queryRaw<{ released: number }[]>`
    WITH held AS MATERIALIZED (
      SELECT id FROM deliveries
      WHERE tenant_id = ${tenantId}::uuid AND endpoint_id = ${endpointId}::uuid
        AND held_for = 'rate' AND status = 'pending'
      ORDER BY created_at LIMIT ${waitsSeconds.length} FOR UPDATE
    ), slot AS (
      SELECT id, (${waits}::text::json ->> (row_number() OVER ())::int - 1)::float8 AS wait_seconds
      FROM held
    ), released AS (
      UPDATE deliveries d
      SET held_for = NULL, next_attempt_at = ${now}::timestamptz + make_interval(secs => wait_seconds)
      FROM slot WHERE d.tenant_id = ${tenantId}::uuid AND d.id = slot.id
      RETURNING d.tenant_id, d.id, d.endpoint_id, d.series, d.attempts, slot.wait_seconds
    ), queued AS (
      ${await insertDeliverJobs(nextAttempts, { released: true })}
    )
    SELECT count(*)::int AS released FROM released`
  return row?.released ?? 0
}

const nextAttempts = Prisma.sql`
  SELECT tenant_id, id AS delivery_id, series, attempts + 1 AS number, endpoint_id, wait_seconds,
    0 AS priority
  FROM released`
