import type { PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { transactionOf } from '#src/queue/jobs.ts'
import type { SendResult } from '#src/webhooks/client/client.ts'
import { recordHealth } from '#src/webhooks/health/record-health.ts'
import { deliverQueue, insertDeliverJobs } from './job.ts'
import { type DeliveryOutcome, statusAfter, waitAfter } from './outcome.ts'

export type JobOutcome = {
  jobId: string
  /** What to record; null if the job had nothing to do. */
  outcome: DeliveryOutcome | null
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
  jobOutcomes: readonly JobOutcome[],
  now: Date,
): Promise<void> {
  const jobIds = jobOutcomes.map(({ jobId }) => jobId)
  await queue.deleteJob(deliverQueue, jobIds, { db: transactionOf(tx) })
  const outcomes = jobOutcomes.flatMap(({ outcome }) => (outcome === null ? [] : [outcome]))
  if (outcomes.length === 0) return
  const updated = await updateDeliveries(tx, scope, outcomes, now)
  const endpointOutcomes = outcomes.flatMap((one) =>
    one.kind === 'attempted' && one.endpointOutcome !== null && updated.has(one.deliveryId)
      ? [one.endpointOutcome]
      : [],
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
  outcomes: readonly DeliveryOutcome[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const recordset = JSON.stringify(outcomes.map((outcome) => toRow(outcome, now)))
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

/** One row of the recordset. */
function toRow(outcome: DeliveryOutcome, now: Date) {
  const { kind, deliveryId, series, attempts } = outcome
  const status = statusAfter(outcome)
  const waitSeconds = waitAfter(outcome)
  return {
    delivery_id: deliveryId,
    series,
    before: attempts,
    after: kind === 'attempted' ? attempts + 1 : attempts,
    status,
    wait_seconds: waitSeconds,
    next_attempt_at: waitSeconds === null ? null : new Date(now.getTime() + waitSeconds * 1_000),
    finished_at: status === 'pending' ? null : now,
    priority: kind !== 'given-up' && outcome.lowPriority ? -1 : 0,
    ...(kind === 'attempted' && attemptColumns(outcome.result)),
  }
}

function attemptColumns(result: SendResult) {
  return {
    started_at: result.startedAt,
    duration_ms: result.durationMs,
    status_code: result.statusCode,
    error: result.error,
    cause: result.cause,
    response_excerpt: result.responseExcerpt,
  }
}
