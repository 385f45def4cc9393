import { fromPrisma, type PgBoss } from 'pg-boss'
import type { TenantScope, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { SendResult } from '#src/webhooks/client/client.ts'
import { type DeliveryEnd, recordHealth } from '#src/webhooks/endpoints/record-health.ts'
import { deliverQueue, insertDeliverJobs } from './job.ts'

/** What a job came to. */
export type Outcome = {
  jobId: string
  /** What to write; null when the job had nothing to do. */
  move: Move | null
}

export type Move = {
  deliveryId: string
  endpointId: string
  series: number
  /** Attempts made in the series, before and after. */
  attempts: { before: number; after: number }
  status: 'pending' | 'succeeded' | 'exhausted'
  /** When the attempt ended, in ms of `performance.now()`: the wait is counted from there. */
  endedMs: number
  /** Before the next attempt; null when the delivery has come to its end. */
  waitSeconds: number | null
  /** Behind those of endpoints that are well. */
  lowPriority: boolean
  result: SendResult | null
  /** The endpoint has to hear of this end. */
  note: DeliveryEnd | null
}

/**
 * Writes what jobs of one tenant came to: attempts, where the deliveries stand, the jobs of the
 * next attempts and that these are done, all in the transaction. A delivery that has moved on since
 * keeps what it has, so doing this twice changes nothing.
 */
export async function recordOutcomes(
  tx: Tx,
  queue: PgBoss,
  scope: TenantScope,
  outcomes: readonly Outcome[],
  now: Date,
): Promise<void> {
  const jobIds = outcomes.map(({ jobId }) => jobId)
  await queue.deleteJob(deliverQueue, jobIds, { db: fromPrisma(tx) })
  const moves = outcomes.flatMap(({ move }) => (move === null ? [] : [move]))
  if (moves.length === 0) return
  const moved = await moveDeliveries(tx, scope, moves, now)
  const ends = moves.flatMap(({ deliveryId, note }) =>
    note !== null && moved.has(deliveryId) ? [note] : [],
  )
  if (ends.length > 0) await recordHealth(tx, queue, scope, ends, now)
}

/**
 * The ids stand there once more as an array, so that they are looked up in the key: on a young
 * table, whose statistics are still to come, the join alone reads all deliveries of the tenant.
 */
async function moveDeliveries(
  tx: Tx,
  { tenantId }: TenantScope,
  moves: readonly Move[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    WITH move AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${JSON.stringify(moves.map((move) => toRow(move, now)))}::text::json) AS one (
        delivery_id uuid, series int, before int, after int, status text, wait_seconds float8,
        next_attempt_at timestamptz, finished_at timestamptz, priority int, started_at timestamptz,
        duration_ms int, status_code int, error text, cause text, response_excerpt text)
    ), moved AS (
      UPDATE deliveries d SET status = move.status, attempts = move.after,
        next_attempt_at = move.next_attempt_at, finished_at = move.finished_at
      FROM move
      WHERE d.tenant_id = ${tenantId}::uuid AND d.id = ANY (ARRAY(SELECT delivery_id FROM move))
        AND d.id = move.delivery_id AND d.status = 'pending' AND d.series = move.series
        AND d.attempts = move.before
      RETURNING d.tenant_id, d.endpoint_id, move.*
    ), kept AS (
      INSERT INTO delivery_attempts (tenant_id, delivery_id, series, number, started_at,
        duration_ms, status_code, error, cause, response_excerpt)
      SELECT tenant_id, delivery_id, series, after, started_at, duration_ms, status_code, error,
        cause, response_excerpt
      FROM moved WHERE started_at IS NOT NULL
    ), queued AS (
      ${insertDeliverJobs(nextAttempts)}
    )
    SELECT delivery_id AS id FROM moved`
  return new Set(rows.map(({ id }) => id))
}

const nextAttempts = Prisma.sql`
  SELECT tenant_id, delivery_id, series, after + 1 AS number, endpoint_id, wait_seconds, priority
  FROM moved WHERE wait_seconds IS NOT NULL`

/** One row of the recordset. What has gone by since the attempt ended is part of the wait. */
function toRow(move: Move, now: Date) {
  const { deliveryId, series, attempts, status, waitSeconds, endedMs, lowPriority, result } = move
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
