import { setTimeout as wait } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import { createGroupCommit, type GroupCommit, type Run } from '#src/db/connections/group-commit.ts'
import type { Database } from '#src/db/database.ts'
import { isDatabaseUnavailable } from '#src/db/errors.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { composeOnce, oneStatement } from '#src/db/sql.ts'
import type { JobLog } from '#src/observability/logger.ts'
import { JobGone } from '#src/queue/enter-jobs.ts'
import { enterTries, type Try } from '#src/queue/job-table.ts'
import type { Clock } from '#src/runtime/clock.ts'
import type { SendResult } from '#src/webhooks/client/sender.ts'
import { statusColumns } from '#src/webhooks/history/filter.ts'
import { endpointTurnQueue, scheduleAttempts } from '#src/webhooks/schedule/due-attempts.ts'
import type { DueAttempt } from './claim.ts'
import { type DeliveryOutcome, statusAfter, waitAfter } from './outcome.ts'
import { recordHealth } from './record-health.ts'

export type RecorderDeps = { db: Database; queue: PgBoss; clock: Clock; logger: JobLog }

/** Records the end of an attempt. */
export type Recorder = {
  /**
   * Repeats while the database is unavailable, however long: the result of an attempt exists only
   * here.
   * @throws the last error once `abandoned`; JobGone once another worker has the turn: it repeats the attempt
   */
  record(ended: Ended, abandoned: AbortSignal): Promise<void>
}

/** How transactions run: `together`, those of one statement; `limit`, those of several. */
export type RecorderLimits = { together: Run; limit: Run }

/**
 * One group commit per tenant, because a statement has the scope of one tenant. Statements of several tenants
 * share a packet and its commit.
 */
export function createRecorder(
  { db, queue, clock, logger }: RecorderDeps,
  { together, limit }: RecorderLimits,
): Recorder {
  const groups = new Map<string, GroupCommit<Ended, void>>()

  function openGroup(tenantId: string): GroupCommit<Ended, void> {
    const group = createGroupCommit<Ended, void>({
      async commit(entries) {
        const gone = await recordAll(entries.map(({ item }) => item))
        for (const { resolve, reject } of entries) gone === null ? resolve() : reject(gone)
      },
      onIdle: () => groups.delete(tenantId),
    })
    groups.set(tenantId, group)
    return group
  }

  /**
   * Records nothing if none of the turns is in progress any more: a commit whose answer was lost has
   * recorded them, or another worker repeats the attempts.
   * @returns null if they were recorded
   */
  async function recordAll(ended: readonly Ended[]): Promise<JobGone | null> {
    const run = healthOf(ended).length === 0 ? together : limit
    try {
      await run(() => recordOutcomes(db, queue, ended, clock.now()))
      return null
    } catch (error) {
      if (!(error instanceof JobGone)) throw error
      logger.warn({ attempts: ended.length }, 'turn no longer ours when attempts were recorded')
      return error
    }
  }

  return {
    async record(ended, abandoned) {
      for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, maxWaitMs)) {
        abandoned.throwIfAborted()
        try {
          const group = groups.get(ended.tenantId) ?? openGroup(ended.tenantId)
          return await group.add(ended)
        } catch (error) {
          if (!isDatabaseUnavailable(error)) throw error
          await wait(waitMs, undefined, { signal: abandoned })
        }
      }
    },
  }
}

const firstWaitMs = 50
const maxWaitMs = 2_000

/** A due attempt that has ended, in the turn of its endpoint. */
export type Ended = Pick<DueAttempt, 'tenantId' | 'deliveryId' | 'series' | 'number'> & {
  turn: Try
  /** Null if the attempt was no longer due. */
  outcome: DeliveryOutcome | null
}

/**
 * Records the outcomes of due attempts of one tenant, all or none: adds the attempts, updates
 * deliveries and endpoints, replaces the due attempts by the next ones. Skips a delivery that has changed
 * in the meantime, so that recording an outcome twice changes nothing.
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
  const turns = new Map(ended.map(({ turn }) => [turn.id, turn]))
  const entry = enterTries(endpointTurnQueue, [...turns.values()])
  const statement = recording(first, ended, now)
  const health = healthOf(ended)
  if (health.length === 0) {
    const work = oneStatement(statement, () => {})
    await db.write(entry, { ...work, place: { tenant: first.tenantId, row: '' } })
    return
  }
  await db.write(entry, async (tx, scope) => {
    const rows = await tx.sql<{ id: string }>(statement)
    const updated = new Set(rows.map(({ id }) => id))
    const outcomes = health
      .filter(({ deliveryId }) => updated.has(deliveryId))
      .map(({ endpointOutcome }) => endpointOutcome)
    if (outcomes.length > 0) await recordHealth(tx, queue, scope, outcomes, now)
  })
}

/** The outcomes that change the state of an endpoint. */
function healthOf(ended: readonly Ended[]) {
  return ended.flatMap(({ outcome }) =>
    outcome?.kind === 'attempted' && outcome.endpointOutcome !== null
      ? [{ deliveryId: outcome.deliveryId, endpointOutcome: outcome.endpointOutcome }]
      : [],
  )
}

/**
 * The statement that stores the outcomes and adds the next attempts; its rows are the ids of the changed
 * deliveries. It touches the queue only if there are next attempts.
 */
function recording({ tenantId }: TenantScope, ended: readonly Ended[], now: Date): Prisma.Sql {
  const ids = ended.map(({ deliveryId }) => deliveryId)
  const changes = JSON.stringify(ended.map((one) => toRow(one, now)))
  const isRetried = ended.some(({ outcome }) => outcome !== null && waitAfter(outcome) !== null)
  return isRetried
    ? scheduleAttempts({ tenantId }, recordCall(tenantId, ids, changes, now))
    : recordLast(tenantId, ids, changes, now)
}

const recordCall = (tenantId: string, ids: readonly string[], changes: string, now: Date) =>
  Prisma.sql`record_outcomes(${tenantId}::uuid, ${ids}::uuid[], ${changes}::text::json, ${now})`

const recordLast = composeOnce(
  (...values: Parameters<typeof recordCall>) =>
    Prisma.sql`SELECT delivery_id AS id FROM ${recordCall(...values)}`,
)

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
