import type { Job, PgBoss } from 'pg-boss'
import type { Database, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { enterJobs } from '#src/queue/enter-jobs.ts'
import { addJob, transactionOf } from '#src/queue/jobs.ts'
import type { EndpointTurnJob } from '#src/queue/queue.ts'
import { endpointTurnQueue, turnJobs } from '#src/webhooks/schedule/due-attempts.ts'
import { isDue } from './claim.ts'

type TurnJob = Job<EndpointTurnJob>

/**
 * Ends turns with nothing due and queues a job for their next attempt. Skips endpoints locked by another
 * transaction, because it may be adding an attempt.
 * @returns for each turn whether it has ended
 * @throws JobGone if none of them is in progress any more
 */
export async function endTurns(
  db: Database,
  queue: PgBoss,
  jobs: readonly TurnJob[],
  now: Date,
): Promise<boolean[]> {
  const ids = jobs.map(({ id }) => id)
  return db.write(enterJobs(endpointTurnQueue, ids), async (tx, { tenantId }) => {
    const endpointIds = jobs.map(({ data }) => data.endpointId)
    const busy = await findBusy(tx, tenantId, endpointIds, now)
    const ended = jobs.filter(({ data }) => !busy.has(data.endpointId))
    if (ended.length > 0) {
      const ids = ended.map(({ data }) => data.endpointId)
      const later = Prisma.sql`
        SELECT ${tenantId}::uuid AS tenant_id, * FROM end_turns(${tenantId}::uuid, ${ids}::uuid[], ${now})`
      await tx.sql(turnJobs(later))
      await completeJobs(tx, queue, ended)
    }
    return jobs.map(({ data }) => !busy.has(data.endpointId))
  })
}

/** Endpoints that are locked by another transaction, or to which an attempt is due. */
async function findBusy(
  tx: Tx,
  tenantId: string,
  endpointIds: readonly string[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const ids = [...endpointIds]
  const locked = await tx.sql<{ id: string }>`
    SELECT id FROM webhook_endpoints
    WHERE tenant_id = ${tenantId}::uuid AND id = ANY (${ids}::uuid[]) FOR UPDATE SKIP LOCKED`
  // A new statement has a new snapshot, taken under the lock.
  const busy = await tx.sql<{ id: string }>`
    SELECT id FROM unnest(${ids}::uuid[]) AS endpoint (id)
    WHERE EXISTS (
        SELECT FROM webhook_endpoints e
        WHERE e.tenant_id = ${tenantId}::uuid AND e.id = endpoint.id
          AND e.id <> ALL (${locked.map(({ id }) => id)}::uuid[]))
      OR EXISTS (
        SELECT FROM due_attempts a
        WHERE a.tenant_id = ${tenantId}::uuid AND a.endpoint_id = endpoint.id AND ${isDue(now)})`
  return new Set(busy.map(({ id }) => id))
}

/** Ends the turn and queues the next one of the endpoint, for any worker. */
export async function handBackTurn(db: Database, queue: PgBoss, job: TurnJob): Promise<void> {
  await db.write(enterJobs(endpointTurnQueue, [job.id]), async (tx) => {
    await completeJobs(tx, queue, [job])
    const { endpointId } = job.data
    const options = { group: { id: endpointId }, singletonKey: endpointId }
    await addJob(queue, tx, endpointTurnQueue, job.data, options)
  })
}

/**
 * Leaves a job alone that another worker has taken over after a pause of this one. `in_turn` is false
 * then, so deliveries add jobs of their own.
 */
async function completeJobs(tx: Tx, queue: PgBoss, jobs: readonly TurnJob[]): Promise<void> {
  await queue.complete(endpointTurnQueue, [...jobs], undefined, { db: transactionOf(tx) })
}
