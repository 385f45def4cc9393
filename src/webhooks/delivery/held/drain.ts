import type { Job, PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Database, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { enterJobs } from '#src/queue/enter-jobs.ts'
import { addJob, transactionOf } from '#src/queue/jobs.ts'
import type { Jobs } from '#src/queue/queue.ts'
import { alertOwners } from '#src/webhooks/health/alerts.ts'
import { drainRate } from '#src/webhooks/health/recovery.ts'
import { noOutage } from '#src/webhooks/health/state.ts'
import { scheduleAttempts } from '#src/webhooks/schedule/due-attempts.ts'
import { grantDeliveries } from '#src/webhooks/schedule/rate-limit.ts'
import { lockWaiting } from './trial.ts'

/** At most one job of an endpoint waits. It releases deliveries that are held. */
export const drainQueue = 'endpoint-drain'

const everySeconds = 1
const aheadMs = 3_000 // longer than until the next drain, so that none is late
const maxReleased = 5_000

/** Does a job: the release, the next job and the end of this one are one commit. */
export async function workDrain(
  db: Database,
  queue: PgBoss,
  { id, data }: Job<Jobs['endpoint-drain']>,
  now: Date,
): Promise<void> {
  await db.write(enterJobs(drainQueue, [id]), async (tx, scope) => {
    await queue.deleteJob(drainQueue, id, { db: transactionOf(tx) })
    await drainEndpoint(tx, queue, scope, data.endpointId, now)
  })
}

/** Begins to release what is held, in a transaction that has locked the endpoint's state. */
export async function planDrain(
  tx: Tx,
  queue: PgBoss,
  { tenantId }: TenantScope,
  endpointId: string,
  startAfter = 0,
): Promise<void> {
  const options = { singletonKey: endpointId, startAfter }
  await addJob(queue, tx, drainQueue, { tenantId, endpointId }, options)
}

/** Releases what is due until the next drain, oldest first, until nothing is held any more. */
async function drainEndpoint(
  tx: Tx,
  queue: PgBoss,
  scope: TenantScope,
  endpointId: string,
  now: Date,
): Promise<void> {
  const endpoint = await lockEndpointRow(tx, scope, endpointId)
  // What a paused endpoint holds is released when it is resumed.
  if (endpoint === null || endpoint.paused === 'hold') return
  const isLimitedMore = await releaseLimited(tx, endpoint, now)
  const isWaitingMore = await releaseWaiting(tx, queue, scope, endpoint, now)
  if (isLimitedMore || isWaitingMore) await planDrain(tx, queue, scope, endpointId, everySeconds)
}

type EndpointRow = {
  tenantId: string
  id: string
  url: string
  status: string
  paused: 'hold' | 'drop' | null
  perSecond: number | null
  burst: number | null
  nextAt: Date | null
  recoveryStep: number
}

async function lockEndpointRow(
  tx: Tx,
  { tenantId }: TenantScope,
  id: string,
): Promise<EndpointRow | null> {
  const [row] = await tx.sql<EndpointRow>`
    SELECT e.tenant_id AS "tenantId", e.id, e.url, s.status, s.paused, e.rate_per_second AS "perSecond",
      e.rate_burst AS burst, s.rate_next_at AS "nextAt", s.recovery_step AS "recoveryStep"
    FROM webhook_endpoints e JOIN endpoint_states s ON s.tenant_id = e.tenant_id AND s.id = e.id
    WHERE e.tenant_id = ${tenantId}::uuid AND e.id = ${id}::uuid FOR NO KEY UPDATE OF e, s`
  return row ?? null
}

/**
 * Releases deliveries that are held for the rate limit, up to what it allows until the next drain.
 * Without a limit (it was removed, or the endpoint gets no attempts) all of them, in portions.
 * @returns whether more are held
 */
async function releaseLimited(tx: Tx, endpoint: EndpointRow, now: Date): Promise<boolean> {
  const { tenantId, id, status, paused, perSecond, burst, nextAt } = endpoint
  if (perSecond === null || burst === null || status === 'disabled' || paused !== null) {
    return (await releaseHeld(tx, endpoint, atOnce, now)) === maxReleased
  }
  const limit = { perSecond, burst }
  const wanted = { wanted: maxReleased, aheadMs }
  const { waitsSeconds } = grantDeliveries(limit, nextAt, wanted, now)
  const count = await releaseHeld(tx, endpoint, waitsSeconds, now)
  if (count > 0) {
    const used = grantDeliveries(limit, nextAt, { wanted: count, aheadMs }, now)
    const data = { rateNextAt: used.nextAt }
    await tx.endpointState.updateMany({ where: { tenantId, id }, data })
  }
  return count === waitsSeconds.length
}

const atOnce: readonly number[] = Array<number>(maxReleased).fill(0)

/** @returns how many were released: fewer than `waitsSeconds` has if no more are held */
async function releaseHeld(
  tx: Tx,
  { tenantId, id }: EndpointRow,
  waitsSeconds: readonly number[],
  now: Date,
): Promise<number> {
  if (waitsSeconds.length === 0) return 0
  const call = Prisma.sql`
    release_held(${tenantId}::uuid, ${id}::uuid, ${[...waitsSeconds]}::float8[], ${now})`
  const rows = await tx.sql<object>(scheduleAttempts({ tenantId }, call))
  return rows.length
}

/**
 * Sends deliveries that waited for the recovery of the endpoint, each with a new schedule: at the rate
 * of its step while it recovers, and the rest once it has recovered.
 * @returns whether more may wait
 */
async function releaseWaiting(
  tx: Tx,
  queue: PgBoss,
  scope: TenantScope,
  endpoint: EndpointRow,
  now: Date,
): Promise<boolean> {
  const { tenantId, id, status, paused, recoveryStep } = endpoint
  if (status !== 'active' || paused !== null) return false
  const isRecovering = recoveryStep > 0
  const wanted = isRecovering ? drainRate(recoveryStep) * everySeconds : maxReleased
  const waiting = await lockWaiting(tx, { tenantId, endpointId: id }, wanted)
  if (waiting.length > 0) {
    await tx.sql`
      UPDATE deliveries SET status = 'pending', series = series + 1, attempts = 0, held_for = NULL,
        finished_at = NULL, next_attempt_at = ${now}
      WHERE tenant_id = ${tenantId}::uuid AND id = ANY (${waiting}::uuid[])`
    const call = Prisma.sql`schedule_attempts(${tenantId}::uuid, ${waiting}::uuid[], false, ${now})`
    await tx.sql(scheduleAttempts({ tenantId }, call))
  }
  const isMore = waiting.length === wanted
  if (isRecovering && !isMore) await endRecovery(tx, queue, scope, endpoint, now)
  return isMore
}

/** Nothing waits any more, so the endpoint has recovered. */
async function endRecovery(
  tx: Tx,
  queue: PgBoss,
  scope: TenantScope,
  { tenantId, id, url }: EndpointRow,
  now: Date,
): Promise<void> {
  const data = { ...noOutage, healthySince: now }
  await tx.endpointState.updateMany({ where: { tenantId, id }, data })
  const alert = { kind: 'endpoint.recovered', endpointId: id, url } as const
  await alertOwners(tx, queue, scope, alert, now)
}
