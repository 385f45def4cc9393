import type { Job, PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import { notifyAfterCommit } from '#src/db/after-commit.ts'
import type { Database, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { selectRows } from '#src/db/select-rows.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { enterJobs } from '#src/queue/enter-jobs.ts'
import { jobInsert } from '#src/queue/job-table.ts'
import { transactionOf } from '#src/queue/jobs.ts'
import type { DeliverJob } from '#src/queue/queue.ts'

/*
 * A delivery that waits has one row in `due_attempts`. A job of the queue `endpoint-turn` is the right
 * to work on one endpoint: the worker that has it reads what is due there, makes the attempts, and
 * deletes a row with its outcome. So a backlog costs its own endpoint alone, and no row is written to
 * claim an attempt.
 *
 * While a worker has a turn, `in_turn` is true and new deliveries need no job. Nothing is forgotten,
 * because every statement that adds an attempt locks the endpoint's row (FOR KEY SHARE) before it reads
 * `in_turn`, and a turn does not end while another transaction has that lock (`endTurns`).
 */

/** One job is one endpoint's turn. Of an endpoint, one job is in progress at a time. */
export const endpointTurnQueue = 'endpoint-turn'

/** Adds the due attempt of a delivery that has lost it, and the job of its endpoint. */
export const deliverQueue = 'deliver'

/** NOTIFY on this channel means that attempts are due. The payload is the tenant. */
export const deliverChannel = 'gatehouse_deliver'

/**
 * The parts `scheduled` and `turn` of a WITH: they add the due attempts of `source`, or change those
 * that its deliveries have, and the jobs of their endpoints. Attempts of one endpoint that are due in the
 * same second share a job.
 * @param source tenant_id, delivery_id, series, number, endpoint_id, due_at, wait_seconds, priority, and
 *   in_turn, read from the endpoint's row under a lock, FOR KEY SHARE or stronger; false is always right
 * @param options `released`: they are within the rate limit of their endpoint; `isNew`: none of the
 *   deliveries can have an attempt
 */
export async function scheduleAttempts(
  source: Prisma.Sql,
  { released = false, isNew = false } = {},
): Promise<Prisma.Sql> {
  return Prisma.sql`due AS MATERIALIZED (${source}), scheduled AS (
    INSERT INTO due_attempts (tenant_id, delivery_id, endpoint_id, due_at, series, number, released)
    SELECT tenant_id, delivery_id, endpoint_id, due_at, series, number, ${released} FROM due
    ${isNew ? Prisma.empty : replaceAttempt}
  ), turn AS (${await turnJobs(missingTurns)})`
}

const missingTurns = Prisma.sql`
  SELECT tenant_id, endpoint_id, second, max(priority) AS priority, min(wait_seconds) AS wait_seconds
  FROM (
    SELECT *, CASE WHEN wait_seconds > 0 THEN floor(extract(epoch FROM due_at))::bigint END AS second
    FROM due WHERE wait_seconds > 0 OR NOT in_turn) AS missing
  GROUP BY tenant_id, endpoint_id, second`

/**
 * The statement that adds the jobs of endpoints, if they do not wait already.
 * @param source tenant_id, endpoint_id, second (of the time when the attempts are due; null for now),
 *   wait_seconds, priority
 */
export async function turnJobs(source: Prisma.Sql): Promise<Prisma.Sql> {
  const [before, after] = await jobInsert(endpointTurnQueue)
  return Prisma.sql`${Prisma.raw(before)}(
    SELECT coalesce(json_agg(json_build_object(
      'data', json_build_object('tenantId', tenant_id, 'endpointId', endpoint_id),
      'groupId', endpoint_id,
      'singletonKey', concat_ws(':', endpoint_id, second),
      'priority', priority,
      'startAfter', make_interval(secs => wait_seconds))), '[]')
    FROM (${source}) AS turns)${Prisma.raw(after)}`
}

const replaceAttempt = Prisma.sql`
  ON CONFLICT (tenant_id, delivery_id) DO UPDATE
  SET due_at = excluded.due_at, series = excluded.series, number = excluded.number,
    released = excluded.released`

/** Wakes the workers once `tx` is committed. Without it they find the attempts within half a second. */
export function wakeWorkers(tx: Tx, { tenantId }: TenantScope): void {
  notifyAfterCommit(tx, deliverChannel, tenantId)
}

/** An attempt that is due and is not in `due_attempts`. */
export type LostAttempt = DeliverJob & { endpointId: string }

/**
 * Adds jobs that add the attempts again, in the scope of their tenants, which the caller has not.
 * @returns their number
 */
export async function addDeliverJobs(
  connection: Queryable,
  attempts: readonly LostAttempt[],
): Promise<number> {
  const [before, after] = await jobInsert(deliverQueue)
  const lost = attempts.map(({ tenantId, deliveryId, series, number, endpointId }) => {
    return { tenantId, deliveryId, series, number, endpointId }
  })
  const statement = Prisma.sql`${Prisma.raw(before)}(
    SELECT coalesce(json_agg(json_build_object(
      'id', md5(concat_ws(':', "deliveryId", series, number))::uuid,
      'data', json_build_object('tenantId', "tenantId", 'deliveryId', "deliveryId",
                                'series', series, 'number', number),
      'groupId', "endpointId")), '[]')
    FROM json_to_recordset(${JSON.stringify(lost)}::text::json) AS lost (
      "tenantId" uuid, "deliveryId" uuid, series int, number int, "endpointId" uuid)
  )${Prisma.raw(after)}`
  return (await selectRows(connection, statement)).length
}

/**
 * Does such a job: the attempt, the turn of its endpoint and the end of the job are one commit. It does
 * nothing for a delivery that has moved on. Releases before this one added all attempts as such jobs.
 */
export async function addLostAttempt(
  db: Database,
  queue: PgBoss,
  { id, data }: Job<DeliverJob>,
): Promise<void> {
  const { deliveryId, series, number, released = false } = data
  await db.write(enterJobs(deliverQueue, [id]), async (tx, { tenantId }) => {
    await queue.deleteJob(deliverQueue, id, { db: transactionOf(tx) })
    await tx.$queryRaw`
      WITH delivery AS (
        SELECT d.tenant_id, d.id AS delivery_id, d.series, d.attempts + 1 AS number, d.endpoint_id,
          coalesce(d.next_attempt_at, d.created_at) AS due_at, 0 AS wait_seconds, 0 AS priority,
          false AS in_turn
        FROM deliveries d JOIN webhook_endpoints e ON e.tenant_id = d.tenant_id AND e.id = d.endpoint_id
        WHERE d.tenant_id = ${tenantId}::uuid AND d.id = ${deliveryId}::uuid AND d.status = 'pending'
          AND d.series = ${series} AND d.attempts = ${number} - 1 AND d.held_for IS NULL
        FOR NO KEY UPDATE OF d FOR KEY SHARE OF e
      ), ${await scheduleAttempts(Prisma.sql`SELECT * FROM delivery`, { released })}
      SELECT count(*)::int FROM turn`
    wakeWorkers(tx, { tenantId })
  })
}
