import type { PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Database } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { enterJobs } from '#src/queue/enter-jobs.ts'
import type { SendResult } from '#src/webhooks/client/client.ts'
import { statusColumns } from '#src/webhooks/history/filter.ts'
import { endpointTurnQueue, scheduleAttempts } from '#src/webhooks/schedule/due-attempts.ts'
import type { DueAttempt } from './claim.ts'
import { type DeliveryOutcome, statusAfter, waitAfter } from './outcome.ts'
import { recordHealth } from './record-health.ts'

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
 * Makes the changes of the outcomes and adds the next attempts; the rows are the ids of what changed. The
 * queue has no part in it when nothing is tried again.
 */
async function recording(
  { tenantId }: TenantScope,
  ended: readonly Ended[],
  now: Date,
): Promise<Prisma.Sql> {
  const ids = ended.map(({ deliveryId }) => deliveryId)
  const changes = JSON.stringify(ended.map((one) => toRow(one, now)))
  const call = Prisma.sql`
    record_outcomes(${tenantId}::uuid, ${ids}::uuid[], ${changes}::text::json, ${now})`
  const isRetried = ended.some(({ outcome }) => outcome !== null && waitAfter(outcome) !== null)
  return isRetried
    ? scheduleAttempts({ tenantId }, call)
    : Prisma.sql`SELECT delivery_id AS id FROM ${call}`
}

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
