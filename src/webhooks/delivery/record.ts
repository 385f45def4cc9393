import type { PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Database } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { enterJobs } from '#src/queue/enter-jobs.ts'
import type { SendResult } from '#src/webhooks/client/client.ts'
import { recordHealth } from '#src/webhooks/health/record-health.ts'
import type { DueAttempt } from './due.ts'
import { endpointTurnQueue, scheduleAttempts } from './due-attempts.ts'
import { statusColumns } from './filter.ts'
import { type DeliveryOutcome, statusAfter, waitAfter } from './outcome.ts'

/** A due attempt that has ended, in the turn of its endpoint. */
export type Ended = Pick<DueAttempt, 'tenantId' | 'deliveryId' | 'series' | 'number'> & {
  turnId: string
  /** What to record; null if the attempt was no longer due. */
  outcome: DeliveryOutcome | null
}

/**
 * Records what became of due attempts of one tenant in one transaction: attempts, states of deliveries
 * and endpoints, the next attempts, and the end of these. A delivery that has changed in the meantime
 * is left alone, so that recording an outcome twice changes nothing.
 * @throws JobGone if none of the turns is in progress any more
 */
export async function recordOutcomes(
  db: Database,
  queue: PgBoss,
  ended: readonly Ended[],
  now: Date,
): Promise<void> {
  const [first] = ended
  if (first === undefined) return
  const entry = enterJobs(endpointTurnQueue, [...new Set(ended.map(({ turnId }) => turnId))])
  const statement = await recording(first, ended, now)
  const health = ended.flatMap(({ outcome }) =>
    outcome?.kind === 'attempted' && outcome.endpointOutcome !== null
      ? [{ deliveryId: outcome.deliveryId, endpointOutcome: outcome.endpointOutcome }]
      : [],
  )
  if (health.length === 0) {
    await db.writeRows(entry, statement)
    return
  }
  await db.write(entry, async (tx, scope) => {
    const rows = await tx.$queryRaw<{ id: string }[]>(statement)
    const updated = new Set(rows.map(({ id }) => id))
    const outcomes = health
      .filter(({ deliveryId }) => updated.has(deliveryId))
      .map(({ endpointOutcome }) => endpointOutcome)
    if (outcomes.length > 0) await recordHealth(tx, queue, scope, outcomes, now)
  })
}

/**
 * The ids are repeated as an array so that PostgreSQL looks them up in the primary key. With the join
 * alone it reads all deliveries of the tenant while a new table has no statistics.
 */
async function recording(
  { tenantId }: TenantScope,
  ended: readonly Ended[],
  now: Date,
): Promise<Prisma.Sql> {
  const changes = JSON.stringify(ended.map((one) => toRow(one, now)))
  const isRetried = ended.some(({ outcome }) => outcome !== null && waitAfter(outcome) !== null)
  return Prisma.sql`
    WITH change AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${changes}::text::json) AS one (
        delivery_id uuid, series int, number int, before int, after int, status text,
        wait_seconds float8, next_attempt_at timestamptz, finished_at timestamptz, priority int,
        started_at timestamptz, duration_ms int, status_code int, error text, cause text,
        response_excerpt text, unusual_status int, unusual_class int)
    ), updated AS (
      UPDATE deliveries d SET status = change.status, attempts = change.after,
        held_for = CASE change.status WHEN 'exhausted' THEN 'recovery' END,
        next_attempt_at = change.next_attempt_at, finished_at = change.finished_at,
        http_status = CASE WHEN change.started_at IS NULL THEN d.http_status
          ELSE coalesce(change.status_code, 0) END,
        unusual_status = CASE WHEN change.started_at IS NULL THEN d.unusual_status
          ELSE change.unusual_status END,
        unusual_class = CASE WHEN change.started_at IS NULL THEN d.unusual_class
          ELSE change.unusual_class END,
        stored_attempts = d.stored_attempts + (change.started_at IS NOT NULL)::int,
        stored_bytes = d.stored_bytes + octet_length(concat(change.error, change.cause, change.response_excerpt))
      FROM change
      WHERE d.tenant_id = ${tenantId}::uuid AND d.id = ANY (ARRAY(SELECT delivery_id FROM change))
        AND d.id = change.delivery_id AND d.status = 'pending' AND d.series = change.series
        AND d.attempts = change.before AND change.status IS NOT NULL
      RETURNING d.tenant_id, d.endpoint_id, change.*
    ), attempt AS (
      INSERT INTO delivery_attempts (tenant_id, delivery_id, series, number, started_at,
        duration_ms, status_code, error, cause, response_excerpt)
      SELECT tenant_id, delivery_id, series, after, started_at, duration_ms, status_code, error,
        cause, response_excerpt
      FROM updated WHERE started_at IS NOT NULL
    ), ended AS (
      -- Not those that are changed below. They are locked after their deliveries, as everywhere.
      DELETE FROM due_attempts a USING change
      WHERE a.tenant_id = ${tenantId}::uuid
        AND a.delivery_id = ANY (ARRAY(SELECT delivery_id FROM change))
        AND a.delivery_id = change.delivery_id
        AND a.series = change.series AND a.number = change.number
        AND (change.wait_seconds IS NULL
          OR change.delivery_id NOT IN (SELECT delivery_id FROM updated))
    )${isRetried ? Prisma.sql`, ${await scheduleAttempts(nextAttempts)}` : Prisma.empty}
    SELECT delivery_id AS id FROM updated`
}

const nextAttempts = Prisma.sql`
  SELECT u.tenant_id, u.delivery_id, u.series, u.after + 1 AS number, u.endpoint_id,
    u.next_attempt_at AS due_at, u.wait_seconds, u.priority, e.in_turn
  FROM updated u JOIN webhook_endpoints e ON e.tenant_id = u.tenant_id AND e.id = u.endpoint_id
  WHERE u.wait_seconds IS NOT NULL FOR KEY SHARE OF e`

/** One row of the recordset. Without a status it only ends the attempt. */
function toRow({ deliveryId, series, number, outcome }: Ended, now: Date) {
  const id = { delivery_id: deliveryId, series, number }
  if (outcome === null) return id
  const { kind, attempts } = outcome
  const status = statusAfter(outcome)
  const waitSeconds = waitAfter(outcome)
  return {
    ...id,
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
  const { unusualStatus, unusualClass } = statusColumns(result.statusCode)
  return {
    started_at: result.startedAt,
    duration_ms: result.durationMs,
    status_code: result.statusCode,
    error: result.error,
    cause: result.cause,
    response_excerpt: result.responseExcerpt,
    unusual_status: unusualStatus,
    unusual_class: unusualClass,
  }
}
