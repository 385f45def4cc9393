import type { Job, PgBoss } from 'pg-boss'
import type { Database } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { oneStatement } from '#src/db/sql.ts'
import { enterTries, jobCompletion } from '#src/queue/job-table.ts'
import { addJob, transactionOf } from '#src/queue/jobs.ts'
import type { EndpointTurnJob } from '#src/queue/queue.ts'
import { endpointTurnQueue, turnJobs } from '#src/webhooks/schedule/due-attempts.ts'
import { firstsUntil } from './claim.ts'

type TurnJob = Job<EndpointTurnJob>

/** Marks the endpoint, so that new deliveries add no job: the turn in progress finds them. */
export async function announceTurn(db: Database, job: TurnJob): Promise<void> {
  const { tenantId, endpointId } = job.data
  await db.write(enterTries(endpointTurnQueue, [job]), async (tx) => {
    await tx.webhookEndpoint.updateMany({
      where: { tenantId, id: endpointId },
      data: { inTurn: true },
    })
  })
}

/**
 * Ends turns of one tenant with nothing due and queues a job for their next attempt, in one statement. Skips
 * endpoints locked by another transaction, because it may be adding an attempt. Leaves a job alone that another
 * worker has taken over after a pause of this one. `in_turn` is false then, so deliveries add jobs of their own.
 * @returns for each turn whether it has ended
 * @throws JobGone if none of them is in progress any more
 */
export async function endTurns(
  db: Database,
  jobs: readonly TurnJob[],
  now: Date,
): Promise<boolean[]> {
  const [first] = jobs
  if (first === undefined) return []
  const { tenantId } = first.data
  const own = jobs.map(({ id, retryCount, data: { endpointId } }) => {
    return { id, retry_count: retryCount, endpoint_id: endpointId }
  })
  const ids = own.map(({ id }) => id)
  const endpointIds = own.map(({ endpoint_id }) => endpoint_id)
  const later = Prisma.sql`
    SELECT ${tenantId}::uuid AS tenant_id, * FROM ended WHERE second IS NOT NULL`
  const ended = Prisma.sql`
    SELECT job.id, job.retry_count
    FROM json_to_recordset(${JSON.stringify(own)}::text::json) AS job (
      id uuid, retry_count int, endpoint_id uuid)
    JOIN ended ON ended.endpoint_id = job.endpoint_id`
  const statement = Prisma.sql`
    WITH ended AS MATERIALIZED (
      SELECT * FROM end_turns(
        ${tenantId}::uuid, ${endpointIds}::uuid[], ${now}, ${firstsUntil(now)})
    ), turn AS (${turnJobs(later)}),
    completed AS (${jobCompletion(endpointTurnQueue, ids, ended)})
    SELECT endpoint_id AS id FROM ended`
  const read = (rows: { id: string }[]) => {
    const done = new Set(rows.map(({ id }) => id))
    return jobs.map(({ data }) => done.has(data.endpointId))
  }
  return db.write(enterTries(endpointTurnQueue, jobs), {
    ...oneStatement(statement, read),
    place: { tenant: tenantId, row: '' },
  })
}

/** Ends the turn and queues the next one of the endpoint, for any worker. */
export async function handBackTurn(db: Database, queue: PgBoss, job: TurnJob): Promise<void> {
  await db.write(enterTries(endpointTurnQueue, [job]), async (tx) => {
    // Does nothing for a job that another worker has taken over.
    await queue.complete(endpointTurnQueue, job, undefined, { db: transactionOf(tx) })
    const { endpointId } = job.data
    const options = { group: { id: endpointId }, singletonKey: endpointId }
    await addJob(queue, tx, endpointTurnQueue, job.data, options)
  })
}
