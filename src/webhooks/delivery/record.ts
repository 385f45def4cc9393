import type { PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { transactionOf } from '#src/queue/jobs.ts'
import type { SendResult } from '#src/webhooks/client/client.ts'
import { type EndpointOutcome, recordHealth } from '#src/webhooks/health/record-health.ts'
import { deliverQueue, insertDeliverJobs } from './job.ts'

export type JobOutcome = {
  jobId: string
  /** What to write; null if the job had nothing to do. */
  update: DeliveryUpdate | null
}

export type DeliveryUpdate = {
  deliveryId: string
  endpointId: string
  series: number
  /** Attempts made in the series, before and after. */
  attempts: { before: number; after: number }
  status: 'pending' | 'succeeded' | 'exhausted'
  /** When the attempt ended, in ms of `performance.now()`. The wait is counted from there. */
  endedMs: number
  /** Before the next attempt; null if there is none. */
  waitSeconds: number | null
  /** The next job comes after those of healthy endpoints. */
  lowPriority: boolean
  result: SendResult | null
  /** Set if this outcome affects the health of the endpoint. */
  endpointOutcome: EndpointOutcome | null
}

/**
 * Records the outcomes of jobs of one tenant in one transaction: attempts, states of deliveries,
 * jobs for the next attempts, and the deletion of these jobs. A delivery that has changed in the
 * meantime is left alone, so that recording an outcome twice changes nothing.
 */
export async function recordOutcomes(
  tx: Tx,
  queue: PgBoss,
  scope: TenantScope,
  outcomes: readonly JobOutcome[],
  now: Date,
): Promise<void> {
  const jobIds = outcomes.map(({ jobId }) => jobId)
  await queue.deleteJob(deliverQueue, jobIds, { db: transactionOf(tx) })
  const updates = outcomes.flatMap(({ update }) => (update === null ? [] : [update]))
  if (updates.length === 0) return
  const updated = await updateDeliveries(tx, scope, updates, now)
  const endpointOutcomes = updates.flatMap(({ deliveryId, endpointOutcome }) =>
    endpointOutcome !== null && updated.has(deliveryId) ? [endpointOutcome] : [],
  )
  if (endpointOutcomes.length > 0) await recordHealth(tx, queue, scope, endpointOutcomes, now)
}

/**
 * The ids are repeated as an array so that PostgreSQL looks them up in the primary key. With the
 * join alone it reads all deliveries of the tenant while a new table has no statistics.
 */
async function updateDeliveries(
  tx: Tx,
  { tenantId }: TenantScope,
  updates: readonly DeliveryUpdate[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const recordset = JSON.stringify(updates.map((update) => toRow(update, now)))
  const rows = await tx.$queryRaw<{ id: string }[]>`
    WITH change AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${recordset}::text::json) AS one (
        delivery_id uuid, series int, before int, after int, status text, wait_seconds float8,
        next_attempt_at timestamptz, finished_at timestamptz, priority int, started_at timestamptz,
        duration_ms int, status_code int, error text, cause text, response_excerpt text)
    ), updated AS (
      UPDATE deliveries d SET status = change.status, attempts = change.after,
        held_for = CASE change.status WHEN 'exhausted' THEN 'recovery' END,
        next_attempt_at = change.next_attempt_at, finished_at = change.finished_at,
        stored_attempts = d.stored_attempts + (change.started_at IS NOT NULL)::int,
        stored_bytes = d.stored_bytes + octet_length(concat(change.error, change.cause, change.response_excerpt))
      FROM change
      WHERE d.tenant_id = ${tenantId}::uuid AND d.id = ANY (ARRAY(SELECT delivery_id FROM change))
        AND d.id = change.delivery_id AND d.status = 'pending' AND d.series = change.series
        AND d.attempts = change.before
      RETURNING d.tenant_id, d.endpoint_id, change.*
    ), attempt AS (
      INSERT INTO delivery_attempts (tenant_id, delivery_id, series, number, started_at,
        duration_ms, status_code, error, cause, response_excerpt)
      SELECT tenant_id, delivery_id, series, after, started_at, duration_ms, status_code, error,
        cause, response_excerpt
      FROM updated WHERE started_at IS NOT NULL
    ), queued AS (
      ${await insertDeliverJobs(nextAttempts)}
    )
    SELECT delivery_id AS id FROM updated`
  return new Set(rows.map(({ id }) => id))
}

const nextAttempts = Prisma.sql`
  SELECT tenant_id, delivery_id, series, after + 1 AS number, endpoint_id, wait_seconds, priority
  FROM updated WHERE wait_seconds IS NOT NULL`

/** One row of the recordset. The time since the attempt ended counts towards the wait. */
function toRow(update: DeliveryUpdate, now: Date) {
  const { deliveryId, series, attempts, status, waitSeconds, endedMs, lowPriority, result } = update
  const passed = (performance.now() - endedMs) / 1_000
  const left = waitSeconds === null ? null : Math.max(0, waitSeconds - passed)
  return {
    delivery_id: deliveryId,
    series,
    ...attempts,
    status,
    wait_seconds: left,
    next_attempt_at: left === null ? null : new Date(now.getTime() + left * 1_000),
    finished_at: status === 'pending' ? null : now,
    priority: lowPriority ? -1 : 0,
    started_at: result?.startedAt,
    duration_ms: result?.durationMs,
    status_code: result?.statusCode,
    error: result?.error,
    cause: result?.cause,
    response_excerpt: result?.responseExcerpt,
  }
}
