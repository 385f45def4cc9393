import type { Job, JobWithMetadata, PgBoss } from 'pg-boss'
import type { BillingPlans } from '#src/config/billing.ts'
import { lockUntilCommit } from '#src/db/advisory-lock.ts'
import type { Database, Tx } from '#src/db/database.ts'
import { withoutScope } from '#src/db/entry.ts'
import { isRefusedForGood } from '#src/db/errors.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import type { JobLog } from '#src/observability/logger.ts'
import type { BillingMetrics } from '#src/observability/metrics.ts'
import type { Tracing, Work } from '#src/observability/tracing.ts'
import type { FindBillingHook } from '#src/queue/app/hooks.ts'
import { type Consumer, startConsumer } from '#src/queue/consumer.ts'
import type { DueJobs } from '#src/queue/due-jobs.ts'
import { JobGone } from '#src/queue/enter-jobs.ts'
import { postponeJob } from '#src/queue/job-table.ts'
import { transactionOf } from '#src/queue/jobs.ts'
import { workPeriodically } from '#src/queue/periodic.ts'
import type { Jobs } from '#src/queue/queue.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { processWaiting } from './customers.ts'
import { PoisonEvent } from './effect.ts'
import { completeJob, eventQueue, lanes, retryJob } from './job.ts'
import { type Applied, applyEvent, recordAbandoned, recordFailure } from './process.ts'
import { CustomerBusy, limitByCustomer, type ObjectApi, type ProviderApi } from './provider-api.ts'
import type { BillingProvider } from './providers/provider.ts'
import { purgeReconciliations, reconcile, scheduleReconciliation } from './reconciliation.ts'
import { countReplayed, workReplayPage } from './replays.ts'
import { purgeBodies, purgeReplays } from './retention.ts'
import { releaseUnlinked } from './unlinked.ts'

export type BillingWorkerDeps = {
  queue: PgBoss
  due: DueJobs
  db: Database
  systemDb: SystemDatabase
  provider: BillingProvider
  plans: BillingPlans | null
  metadata: readonly string[]
  api: ProviderApi | null
  /** Called in the transaction that processes an event. */
  onProcessed?: (tx: Tx, eventId: string) => Promise<void>
  /** Finds the hook of the app about a type of events. */
  hookOf?: FindBillingHook
  retentionDays: number
  clock: Clock
  metrics: BillingMetrics
  tracing: Tracing
  logger: JobLog
}

type EventJob = JobWithMetadata<Jobs['billing-event']>

// Limits of each consumer: a few jobs in progress for each connection of the pool.
const limits = { inFlight: 25, stopMs: 6_000 } as const
const callsPerCustomer = 5
// As long as a call that hangs, and spread, so that the events of one customer do not return at once.
const postponedSeconds = { least: 5, spread: 25 } as const
const statementTimeoutMs = statementTimeoutsMs.byKey
const retentionSeconds = 3_600
const reconcileSeconds = 900

/** Starts the consumers of recorded events, and the handlers of replays and of old bodies. */
export async function workBilling(deps: BillingWorkerDeps): Promise<Pick<Consumer, 'stop'>> {
  const { queue, due, db, systemDb, provider, metrics, logger } = deps

  await due.work('billing-event-dead', {}, async (jobs: Job<Jobs['billing-event']>[]) => {
    for (const job of jobs) await markAbandoned(job)
  })
  await due.work('billing-replay', {}, async (jobs: Job<Jobs['billing-replay']>[]) => {
    for (const { data } of jobs) await workReplayPage(systemDb, queue, provider, data.replayId)
  })
  await workPeriodically(deps, 'billing-retention', purge)
  await due.work('billing-linked', {}, async (jobs: Job<Jobs['billing-linked']>[]) => {
    for (const { data } of jobs) await releaseUnlinked(systemDb, queue, provider, data.customer)
  })
  await due.work(
    'billing-reconciliation',
    {},
    async (jobs: Job<Jobs['billing-reconciliation']>[]) => {
      for (const { data } of jobs)
        await reconcile(systemDb, provider, deps.api, data.reconciliationId)
    },
  )
  await workPeriodically(deps, 'billing-reconciliation-schedule', async () => {
    // Without the provider's API nothing is due; a worker that has one begins again at its start.
    if (deps.api === null) return null
    return { data: {}, seconds: await scheduleReconciliation(systemDb, queue, reconcileSeconds) }
  })
  return workEvents(deps)

  async function markAbandoned(job: Job<Jobs['billing-event']>): Promise<void> {
    const { eventId } = job.data
    const isChanged = await db.write(withoutScope, async (tx) => {
      const isChanged = await recordAbandoned(tx, eventId)
      await endJob(tx, queue, job, 'failed')
      return isChanged
    })
    if (!isChanged) return
    logger.warn({ eventId, dead: true }, 'billing event abandoned by its worker')
    metrics.worked.inc({ outcome: 'dead' })
  }

  /** Begins where the last run ended. The next run follows at once while there is more to delete. */
  async function purge({ since }: Jobs['billing-retention']) {
    await purgeReplays(systemDb, deps.retentionDays)
    await purgeReconciliations(systemDb, deps.retentionDays)
    const purged = await purgeBodies(systemDb, deps.retentionDays, since)
    metrics.purged.inc(purged.bodies)
    if (purged.bodies > 0) logger.info({ bodies: purged.bodies }, 'expired event bodies deleted')
    return { data: { since: purged.since }, seconds: purged.done ? retentionSeconds : 0 }
  }
}

/** What an event needs; the calls about one customer are limited. */
type EventWork = Omit<BillingWorkerDeps, 'api'> & { api: ObjectApi | null }

/** Starts the consumers of recorded events, one for each lane. */
async function workEvents(deps: BillingWorkerDeps): Promise<Pick<Consumer, 'stop'>> {
  const { queue, due, logger } = deps
  const work = { ...deps, api: deps.api && limitByCustomer(deps.api, callsPerCustomer) }
  const consumers = await Promise.all(lanes.map(startLane))
  return {
    async stop() {
      await Promise.all(consumers.map((consumer) => consumer.stop()))
    },
  }

  function startLane(lane: (typeof lanes)[number]): Promise<Consumer> {
    return startConsumer<EventJob>({
      queue,
      due,
      name: eventQueue,
      limits,
      fetch: (batchSize) => fetchEvents(deps, lane, batchSize),
      run: (jobs, abandoned) => jobs.map((job) => workEvent(work, job, abandoned)),
      logger,
    })
  }
}

/** Never rejects. */
async function workEvent(deps: EventWork, job: EventJob, abandoned: AbortSignal): Promise<void> {
  const { queue, db, provider, api, clock, metrics, tracing, logger } = deps
  const { eventId, replayId, requestId, traceparent } = job.data
  const stopTimer = metrics.stages.startTimer({ stage: 'process' })
  try {
    const facts = { 'gatehouse.event_id': eventId }
    const process: Work<Applied> = async (note) => {
      const applied = await applyEvent(db, eventId, clock.now(), {
        provider,
        plans: deps.plans,
        metadata: deps.metadata,
        api,
        onLinked: (tx, customer) => processWaiting(tx, queue, customer),
        onProcessed: async (tx) => deps.onProcessed?.(tx, eventId),
        ...(deps.hookOf && { hookOf: deps.hookOf }),
        again: replayId !== undefined,
        settle: (tx) => endJob(tx, queue, job, 'succeeded'),
        traceparent: tracing.traceparent(),
      })
      note({ 'gatehouse.outcome': applied })
      return applied
    }
    const applied = await tracing.span('billing event', facts, process, traceparent)
    logger.info({ eventId, applied, requestId, replayId }, 'billing event processed')
    metrics.worked.inc({ outcome: applied })
  } catch (error) {
    if (error instanceof JobGone) logger.info({ eventId }, 'billing event taken over')
    else if (error instanceof CustomerBusy) await postpone(deps, job)
    else if (!abandoned.aborted) await fail(deps, job, error)
  } finally {
    stopTimer()
  }
}

/** If it fails, the job returns without its heartbeat. */
async function postpone({ systemDb, metrics, logger }: EventWork, job: EventJob): Promise<void> {
  const seconds = postponedSeconds.least + Math.random() * postponedSeconds.spread
  metrics.worked.inc({ outcome: 'postponed' })
  await postponeJob(systemDb, job, seconds).catch((error) => {
    logger.warn({ eventId: job.data.eventId, err: error }, 'billing event not postponed')
  })
}

/**
 * Records why an event failed. It is not tried again if it was replayed, is poison, or has a value
 * that PostgreSQL never accepts.
 */
async function fail(
  { queue, db, metrics, logger }: EventWork,
  job: EventJob,
  error: unknown,
): Promise<void> {
  const { eventId, requestId, replayId } = job.data
  const isLast = replayId !== undefined || job.retryCount >= job.retryLimit
  const isPermanent = error instanceof PoisonEvent || isRefusedForGood(error)
  const status = isLast || isPermanent ? 'dead' : 'failed'
  const reason = error instanceof Error ? error.message : String(error)
  logger.warn(
    { eventId, requestId, replayId, dead: status === 'dead', err: error },
    'billing event failed',
  )
  metrics.worked.inc({ outcome: status })
  try {
    await db.write(withoutScope, async (tx) => {
      await recordFailure(tx, eventId, status, reason)
      if (status === 'dead') await endJob(tx, queue, job, 'failed')
      else await retryJob(tx, queue, job, reason)
    })
  } catch (error) {
    if (error instanceof JobGone) return
    logger.error({ eventId, err: error }, 'billing event failure not recorded')
    // If this fails too, the job returns without its heartbeat.
    await queue.fail(eventQueue, job, { message: reason }).catch(() => {})
  }
}

async function endJob(
  tx: Tx,
  queue: PgBoss,
  job: Job<Jobs['billing-event']>,
  outcome: 'succeeded' | 'failed',
): Promise<void> {
  const { replayId } = job.data
  await completeJob(tx, queue, job)
  if (replayId !== undefined) await countReplayed(tx, queue, replayId, outcome)
}

/**
 * Takes jobs of objects of which no other event is in progress, in any process. The lock makes that
 * certain: of two fetches at once, neither would see what the other takes.
 */
function fetchEvents(
  { queue, systemDb }: Pick<BillingWorkerDeps, 'queue' | 'systemDb'>,
  lane: (typeof lanes)[number],
  batchSize: number,
): Promise<EventJob[]> {
  return systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    await lockUntilCommit(connection, 'billing-fetch')
    return queue.fetch<Jobs['billing-event']>(eventQueue, {
      ...lane,
      batchSize,
      groupConcurrency: 1,
      includeMetadata: true,
      db: transactionOf(connection),
    })
  })
}
