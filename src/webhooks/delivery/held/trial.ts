import type { Job, PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Database, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { enterJobs } from '#src/queue/enter-jobs.ts'
import { addJob, transactionOf } from '#src/queue/jobs.ts'
import type { Jobs } from '#src/queue/queue.ts'
import { nextLookAt, nextTrialAt } from '#src/webhooks/health/recovery.ts'
import { scheduleAttempts } from '#src/webhooks/schedule/due-attempts.ts'

export const trialQueue = 'endpoint-trial'

/** Plans the next trial of an endpoint, in the transaction that writes its `trial_at`. */
export async function planTrial(
  tx: Tx,
  queue: PgBoss,
  { tenantId }: TenantScope,
  { endpointId, at }: { endpointId: string; at: Date },
  now: Date,
): Promise<void> {
  const startAfter = Math.max(0, (at.getTime() - now.getTime()) / 1_000)
  await addJob(queue, tx, trialQueue, { tenantId, endpointId, at: at.getTime() }, { startAfter })
}

/** Does a job: the trial, the plan for the next one and the end of this job are one commit. */
export async function workTrial(
  db: Database,
  queue: PgBoss,
  { id, data }: Job<Jobs['endpoint-trial']>,
  now: Date,
): Promise<void> {
  await db.write(enterJobs(trialQueue, [id]), async (tx, scope) => {
    await queue.deleteJob(trialQueue, id, { db: transactionOf(tx) })
    await startTrial(tx, queue, scope, data, now)
  })
}

/**
 * Starts a trial: one more attempt of the oldest delivery that waits for the endpoint. The next one is
 * planned at once, so that the recovery goes on whatever becomes of this one. A job that is no longer
 * the planned one does nothing.
 */
async function startTrial(
  tx: Tx,
  queue: PgBoss,
  scope: TenantScope,
  { endpointId, at }: Jobs['endpoint-trial'],
  now: Date,
): Promise<void> {
  const { tenantId } = scope
  const [endpoint] = await tx.sql<EndpointRow>`
    SELECT s.status, s.paused, e.recover_when_disabled AS "recoverWhenDisabled", s.trials,
      s.failing_since AS "failingSince", s.failure_status AS "statusCode",
      s.failure_cause AS cause, s.trial_at AS "trialAt", s.trial_delivery_id AS "trialDeliveryId"
    FROM webhook_endpoints e JOIN endpoint_states s ON s.tenant_id = e.tenant_id AND s.id = e.id
    WHERE e.tenant_id = ${tenantId}::uuid AND e.id = ${endpointId}::uuid FOR NO KEY UPDATE OF e, s`
  if (endpoint === undefined || endpoint.status === 'active') return
  if (endpoint.trialAt?.getTime() !== at) return
  const started = await startDelivery(tx, scope, endpointId, endpoint, now)
  const trials = endpoint.trials + 1
  const failingSince = endpoint.failingSince ?? now
  const data =
    started === null
      ? { trialAt: nextLookAt(endpoint.status, now) }
      : {
          trials,
          trialDeliveryId: started,
          trialAt: nextTrialAt({ ...endpoint, failingSince, trials }, now),
        }
  await tx.endpointState.updateMany({ where: { tenantId, id: endpointId }, data })
  await planTrial(tx, queue, scope, { endpointId, at: data.trialAt }, now)
}

type EndpointRow = {
  status: 'active' | 'failing' | 'disabled'
  paused: 'hold' | 'drop' | null
  recoverWhenDisabled: boolean
  trials: number
  failingSince: Date | null
  statusCode: number | null
  cause: string | null
  trialAt: Date | null
  trialDeliveryId: string | null
}

/** @returns the id of the delivery; null if a trial is in progress, not wanted, or nothing waits */
async function startDelivery(
  tx: Tx,
  { tenantId }: TenantScope,
  endpointId: string,
  { status, paused, recoverWhenDisabled, trialDeliveryId }: EndpointRow,
  now: Date,
): Promise<string | null> {
  if (paused !== null || (status === 'disabled' && !recoverWhenDisabled)) return null
  if (trialDeliveryId !== null) {
    // Gone with the result, and not released any more if the delivery was replayed.
    const where = { tenantId, deliveryId: trialDeliveryId, released: true }
    if ((await tx.dueAttempt.count({ where })) > 0) return null
  }
  const oldest = await lockWaiting(tx, { tenantId, endpointId }, 1)
  if (oldest.length === 0) return null
  await tx.sql`
    UPDATE deliveries SET status = 'pending', held_for = NULL, finished_at = NULL, next_attempt_at = ${now}
    WHERE tenant_id = ${tenantId}::uuid AND id = ANY (${oldest}::uuid[])`
  const call = Prisma.sql`schedule_attempts(${tenantId}::uuid, ${oldest}::uuid[], true, ${now})`
  const rows = await tx.sql<{ id: string }>(scheduleAttempts({ tenantId }, call))
  return rows[0]?.id ?? null
}

/** Locks the oldest deliveries that wait for the recovery of an endpoint; resolves to their ids. */
export async function lockWaiting(
  tx: Tx,
  { tenantId, endpointId }: TenantScope & { endpointId: string },
  wanted: number,
): Promise<string[]> {
  const rows = await tx.sql<{ id: string }>`
    ${waitingFor(tenantId, endpointId)} ORDER BY d.created_at LIMIT ${wanted} FOR UPDATE OF d`
  return rows.map(({ id }) => id)
}

/**
 * Selects the ids of deliveries that wait for the recovery of an endpoint. What failed before it was
 * enabled by hand is left to a replay. The bound on `created_at` is for the index: a delivery that was
 * older than a day when it failed is left to a replay too.
 */
export function waitingFor(tenantId: string, endpointId: string): Prisma.Sql {
  return Prisma.sql`
    SELECT d.id FROM deliveries d
    JOIN endpoint_states s ON s.tenant_id = d.tenant_id AND s.id = d.endpoint_id
    WHERE d.tenant_id = ${tenantId}::uuid AND d.endpoint_id = ${endpointId}::uuid
      AND d.held_for = 'recovery' AND d.status = 'exhausted' AND d.finished_at > s.enabled_at
      AND d.created_at >= s.enabled_at - interval '1 day'`
}
