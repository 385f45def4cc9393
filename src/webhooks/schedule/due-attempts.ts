import type { Job, PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Database, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { enterJobs } from '#src/queue/enter-jobs.ts'
import { jobInsert } from '#src/queue/job-table.ts'
import { announceJob, transactionOf } from '#src/queue/jobs.ts'
import type { DeliverJob } from '#src/queue/queue.ts'

/*
 * A delivery that waits has one row in `due_attempts`. A job of the queue `endpoint-turn` is the right
 * to work on one endpoint: the worker that has it reads what is due there, makes the attempts, and
 * deletes a row with its outcome. So a backlog costs its own endpoint alone, and no row is written to
 * claim an attempt.
 *
 * While a worker has a turn, `in_turn` is true and new deliveries need no job. Nothing is forgotten,
 * because every statement that adds an attempt locks the endpoint's row (FOR KEY SHARE) before it reads
 * `in_turn`, and a turn does not end while another transaction has that lock (`endTurns`). For the same
 * reason it adds no job if one waits already, seen under that lock (`turn_waits`): the turn of that job
 * begins later. An INSERT that finds the conflict would cost several times as much.
 */

/** One job is one endpoint's turn. Of an endpoint, one job is in progress at a time. */
export const endpointTurnQueue = 'endpoint-turn'

/** Adds the due attempt of a delivery that has lost it, and the job of its endpoint. */
export const deliverQueue = 'deliver'

/** One request to an endpoint's URL; a client waits for its result. */
export const endpointCallQueue = 'endpoint-call'

/**
 * The statement that calls a function of the database which adds due attempts, and adds the jobs of their
 * endpoints. Attempts of one endpoint that are due in the same second share a job. The rows are the ids of
 * the deliveries.
 *
 * Attempts and jobs are two parts, because only the attempts are rows of a tenant: on a distributed
 * database they are on the node of the tenant and the jobs are not.
 * @param call returns delivery_id, endpoint_id, due_at, wait_seconds, priority and in_turn, which was read
 *   from the endpoint's row under a lock, FOR KEY SHARE or stronger; without `due_at` there is no attempt
 */
export function scheduleAttempts(scope: TenantScope, call: Prisma.Sql): Prisma.Sql {
  const attempts = attemptsOf(scope, Prisma.sql`SELECT * FROM ${call}`)
  return Prisma.sql`WITH ${attempts} SELECT delivery_id AS id FROM due`
}

/**
 * The parts `due` and `turn` of a WITH, as in `scheduleAttempts`, for a statement that does more.
 * @param due a SELECT of what such a function returns
 */
export function attemptsOf({ tenantId }: TenantScope, due: Prisma.Sql): Prisma.Sql {
  const missingTurns = Prisma.sql`
    SELECT ${tenantId}::uuid AS tenant_id, endpoint_id, second, max(priority) AS priority,
      min(wait_seconds) AS wait_seconds
    FROM (
      SELECT *, CASE WHEN wait_seconds > 0 THEN floor(extract(epoch FROM due_at))::bigint END AS second
      FROM due WHERE due_at IS NOT NULL AND (wait_seconds > 0 OR NOT in_turn)) AS missing
    GROUP BY endpoint_id, second
    HAVING second IS NOT NULL OR NOT turn_waits(endpoint_id)`
  return Prisma.sql`due AS MATERIALIZED (${due}), turn AS (${turnJobs(missingTurns)})`
}

/**
 * The statement that adds the jobs of endpoints, if they do not wait already.
 * @param source tenant_id, endpoint_id, second (of the time when the attempts are due; null for now),
 *   wait_seconds, priority
 */
export function turnJobs(source: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`${insertTurns(Prisma.sql`(${source}) AS turns`)} ON CONFLICT DO NOTHING`
}

const insertTurns = jobInsert(endpointTurnQueue, {
  data: `jsonb_build_object('tenantId', tenant_id, 'endpointId', endpoint_id)`,
  groupId: 'endpoint_id',
  singletonKey: `concat_ws(':', endpoint_id, second)`,
  priority: 'priority',
  startAfter: 'make_interval(secs => wait_seconds)',
})

/** Wakes the workers for attempts that are due, once `tx` is committed, and turns that go on. */
export function wakeWorkers(tx: Pick<Tx, 'notify'>, { tenantId }: TenantScope): void {
  announceJob(tx, endpointTurnQueue, tenantId)
}

/** An attempt that is due and is not in `due_attempts`. */
export type LostAttempt = DeliverJob & { endpointId: string }

/**
 * Queues jobs that add the attempts again. A job enters the scope of its tenant, which the caller has not.
 * @returns the number of jobs
 */
export async function addDeliverJobs(
  connection: Queryable,
  attempts: readonly LostAttempt[],
): Promise<number> {
  const lost = attempts.map(({ tenantId, deliveryId, series, number, endpointId }) => {
    return { tenantId, deliveryId, series, number, endpointId }
  })
  const source = Prisma.sql`
    json_to_recordset(${JSON.stringify(lost)}::text::json) AS lost (
      "tenantId" uuid, "deliveryId" uuid, series int, number int, "endpointId" uuid)`
  const added = await connection.sql(
    Prisma.sql`${insertDeliverJobs(source)} ON CONFLICT DO NOTHING RETURNING id`,
  )
  if (added.length > 0) announceJob(connection, deliverQueue)
  return added.length
}

const insertDeliverJobs = jobInsert(deliverQueue, {
  id: `md5(concat_ws(':', "deliveryId", series, number))`,
  data: `jsonb_build_object('tenantId', "tenantId", 'deliveryId', "deliveryId",
                            'series', series, 'number', number)`,
  groupId: '"endpointId"',
})

/**
 * Does a job of the queue `deliver`: the attempt, the turn of its endpoint and the end of the job are
 * one commit. It does nothing for a delivery that has moved on.
 */
export async function addLostAttempt(
  db: Database,
  queue: PgBoss,
  { id, data }: Job<DeliverJob>,
): Promise<void> {
  const { deliveryId, series, number, released = false } = data
  await db.write(enterJobs(deliverQueue, [id]), async (tx, { tenantId }) => {
    await queue.deleteJob(deliverQueue, id, { db: transactionOf(tx) })
    const [delivery] = await tx.sql<object>`
      SELECT d.id FROM deliveries d
      WHERE d.tenant_id = ${tenantId}::uuid AND d.id = ${deliveryId}::uuid AND d.status = 'pending'
        AND d.series = ${series} AND d.attempts = ${number} - 1 AND d.held_for IS NULL
      FOR NO KEY UPDATE`
    if (delivery === undefined) return
    const call = Prisma.sql`
      schedule_attempts(${tenantId}::uuid, ARRAY[${deliveryId}::uuid], ${released}, now())`
    await tx.sql(scheduleAttempts({ tenantId }, call))
    wakeWorkers(tx, { tenantId })
  })
}
