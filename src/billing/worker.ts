import type { JobResult, JobWithMetadata, PgBoss } from 'pg-boss'
import type { BaseLogger } from 'pino'
import type { Database } from '#src/db/database.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import type { BillingMetrics } from '#src/observability/metrics.ts'
import type { Tracing } from '#src/observability/tracing.ts'
import type { Jobs } from '#src/queue/queue.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { PoisonEvent } from './effect.ts'
import { applyEvent, recordAbandoned, recordFailure, serializeByKey } from './process.ts'
import type { ProviderApi } from './provider-api.ts'
import { workReplayPage } from './replays.ts'
import { purgeBodies } from './retention.ts'

export type BillingWorkerDeps = {
  queue: PgBoss
  db: Database
  systemDb: SystemDatabase
  api: ProviderApi | null
  retentionDays: number
  clock: Clock
  metrics: BillingMetrics
  tracing: Tracing
  logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>
}

type EventJob = JobWithMetadata<Jobs['billing-event']>

const pollSeconds = 0.5
// Bounds the jobs in progress to a few for each connection of the pool.
const batchSize = 25
const localConcurrency = 2
const retentionSeconds = 3_600

/** Registers the queue handlers: recorded events, replays and the deletion of old bodies. */
export async function workBilling(deps: BillingWorkerDeps): Promise<void> {
  const { queue, db, systemDb, api, clock, metrics, tracing, logger } = deps
  const serialize = serializeByKey()

  await queue.work(
    'billing-event',
    {
      batchSize,
      localConcurrency,
      burstWhenBatchFull: true,
      pollingIntervalSeconds: pollSeconds,
      perJobResults: true,
      includeMetadata: true,
    },
    (jobs: EventJob[]) => Promise.all(jobs.map((job) => workEvent(job))),
  )
  await queue.work<Jobs['billing-event-dead']>(
    'billing-event-dead',
    { pollingIntervalSeconds: pollSeconds },
    async (jobs) => {
      for (const { data } of jobs) await markAbandoned(data.eventId)
    },
  )
  await queue.work<Jobs['billing-replay']>(
    'billing-replay',
    { pollingIntervalSeconds: pollSeconds },
    async (jobs) => {
      for (const { data } of jobs) {
        await workReplayPage(systemDb, queue, data.replayId, async (eventId) => {
          return (await processEvent(eventId, { again: true, last: true })) === 'succeeded'
        })
      }
    },
  )
  await queue.work<Jobs['billing-retention']>('billing-retention', async (jobs) => {
    for (const { data } of jobs) await purge(data)
  })
  await queue.send('billing-retention', {})

  async function workEvent(job: EventJob): Promise<JobResult> {
    const last = job.retryCount >= job.retryLimit
    const result = await processEvent(job.data.eventId, { again: false, last })
    // A recorded poison event is completed, because a retry would fail in the same way.
    return { id: job.id, status: result === 'failed' ? 'failed' : 'completed' }
  }

  /**
   * Never rejects: an error is stored with the event, for the operator.
   * @param last whether the queue makes no further try
   */
  async function processEvent(
    eventId: string,
    { again, last }: { again: boolean; last: boolean },
  ): Promise<'succeeded' | 'failed' | 'poison'> {
    const stopTimer = metrics.stages.startTimer({ stage: 'process' })
    try {
      const now = clock.now()
      const facts = { 'gatehouse.event_id': eventId }
      const applied = await tracing.span('billing event', facts, async (note) => {
        const applied = await applyEvent(db, eventId, now, { api, serialize, again })
        note({ 'gatehouse.outcome': applied })
        return applied
      })
      logger.info({ eventId, applied }, 'billing event processed')
      metrics.worked.inc({ outcome: applied })
      return 'succeeded'
    } catch (error) {
      const poison = error instanceof PoisonEvent
      const status = poison || last ? 'dead' : 'failed'
      const reason = error instanceof Error ? error.message : String(error)
      logger.warn({ eventId, dead: status === 'dead', err: error }, 'billing event failed')
      metrics.worked.inc({ outcome: status })
      const recorded = await recordFailure(db, eventId, status, reason).then(
        () => true,
        (error) => {
          logger.error({ eventId, err: error }, 'billing event failure not recorded')
          return false
        },
      )
      return poison && recorded ? 'poison' : 'failed'
    } finally {
      stopTimer()
    }
  }

  async function markAbandoned(eventId: string): Promise<void> {
    if (!(await recordAbandoned(db, eventId))) return
    logger.warn({ eventId, dead: true }, 'billing event abandoned by its worker')
    metrics.worked.inc({ outcome: 'dead' })
  }

  /** Begins where the last run ended. The next run follows at once while there is more to delete. */
  async function purge({ since }: Jobs['billing-retention']): Promise<void> {
    const purged = await purgeBodies(systemDb, deps.retentionDays, since)
    metrics.purged.inc(purged.bodies)
    if (purged.bodies > 0) logger.info({ bodies: purged.bodies }, 'expired event bodies deleted')
    const startAfter = purged.done ? retentionSeconds : 0
    await queue.send('billing-retention', { since: purged.since }, { startAfter })
  }
}
