import type { JobResult, JobWithMetadata, PgBoss } from 'pg-boss'
import type { BaseLogger } from 'pino'
import type { Database } from '#src/db/database.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import type { BillingMetrics } from '#src/observability/metrics.ts'
import type { Tracing } from '#src/observability/tracing.ts'
import type { Jobs } from '#src/queue/queue.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { PoisonEvent } from './effect.ts'
import { applyEvent, noteAbandoned, noteFailure, serializeByKey } from './process.ts'
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
type Attempt = 'well' | 'failed' | 'poison'

const pollSeconds = 0.5
// Together no more than a few jobs for each connection of the pool.
const batchSize = 25
const localConcurrency = 2
const retentionSeconds = 3_600

/** Starts working on recorded events, on replays and on the retention of bodies. */
export async function workBilling(work: BillingWorkerDeps): Promise<void> {
  const { queue, systemDb, metrics, logger } = work
  const turns = serializeByKey()

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
      for (const { data } of jobs) await bury(data.eventId)
    },
  )
  await queue.work<Jobs['billing-replay']>(
    'billing-replay',
    { pollingIntervalSeconds: pollSeconds },
    async (jobs) => {
      for (const { data } of jobs) {
        await workReplayPage(systemDb, queue, data.replayId, async (eventId) => {
          return (await attempt(eventId, { again: true, last: true })) === 'well'
        })
      }
    },
  )
  await queue.work<Jobs['billing-retention']>('billing-retention', async (jobs) => {
    for (const { data } of jobs) await letGo(data)
  })
  await queue.send('billing-retention', {})

  async function workEvent(job: EventJob): Promise<JobResult> {
    const last = job.retryCount >= job.retryLimit
    const came = await attempt(job.data.eventId, { again: false, last })
    // A noted poison event is settled: another try could not end differently.
    return { id: job.id, status: came === 'failed' ? 'failed' : 'completed' }
  }

  /** Never rejects: what went wrong is noted with the event, for the operator. */
  async function attempt(
    eventId: string,
    { again, last }: { again: boolean; last: boolean },
  ): Promise<Attempt> {
    const ended = metrics.stages.startTimer({ stage: 'process' })
    try {
      const now = work.clock.now()
      const facts = { 'gatehouse.event_id': eventId }
      const applied = await work.tracing.span('billing event', facts, async (note) => {
        const options = { api: work.api, turns, again }
        const applied = await applyEvent(work.db, systemDb, eventId, now, options)
        note({ 'gatehouse.outcome': applied })
        return applied
      })
      logger.info({ eventId, applied }, 'billing event worked on')
      metrics.worked.inc({ outcome: applied })
      return 'well'
    } catch (error) {
      const poison = error instanceof PoisonEvent
      const state = poison || last ? 'dead' : 'failed'
      const reason = error instanceof Error ? error.message : String(error)
      logger.warn({ eventId, dead: state === 'dead', err: error }, 'billing event failed')
      metrics.worked.inc({ outcome: state })
      const noted = await noteFailure(work.db, eventId, state, reason).then(
        () => true,
        (error) => logger.error({ eventId, err: error }, 'billing event failure not noted'),
      )
      return poison && noted ? 'poison' : 'failed'
    } finally {
      ended()
    }
  }

  async function bury(eventId: string): Promise<void> {
    if (!(await noteAbandoned(work.db, eventId))) return
    logger.warn({ eventId, dead: true }, 'billing event abandoned by its worker')
    metrics.worked.inc({ outcome: 'dead' })
  }

  /** Begins where the last run ended, and comes back; at once while there is more to do. */
  async function letGo({ since }: Jobs['billing-retention']): Promise<void> {
    const purged = await purgeBodies(systemDb, work.retentionDays, since)
    metrics.purged.inc(purged.bodies)
    if (purged.bodies > 0) logger.info({ bodies: purged.bodies }, 'raw bodies let go of')
    const startAfter = purged.done ? retentionSeconds : 0
    await queue.send('billing-retention', { since: purged.since }, { startAfter })
  }
}
