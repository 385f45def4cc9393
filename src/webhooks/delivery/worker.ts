import type { Job } from 'pg-boss'
import type { OutboundConfig } from '#src/config/parse.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { createAttemptLog } from '#src/observability/attempt-log.ts'
import { type Consumer, startConsumer } from '#src/queue/consumer.ts'
import type { DueJobs } from '#src/queue/due-jobs.ts'
import { enterJobs, JobGone } from '#src/queue/enter-jobs.ts'
import { workPeriodically } from '#src/queue/periodic.ts'
import type { DeliverJob, Jobs } from '#src/queue/queue.ts'
import { createSender } from '#src/webhooks/client/client.ts'
import { drainQueue, workDrain } from '#src/webhooks/delivery/held/drain.ts'
import { trialQueue, workTrial } from '#src/webhooks/delivery/held/trial.ts'
import { turnQueue, workReplayTurn } from '#src/webhooks/history/replays.ts'
import { purgeHistory } from '#src/webhooks/history/retention.ts'
import {
  addLostAttempt,
  deliverQueue,
  endpointTurnQueue,
} from '#src/webhooks/schedule/due-attempts.ts'
import { createDispatcher, type DispatchDeps } from './dispatch.ts'
import type { TurnJob } from './fetch-turns.ts'
import { forecastQueue, workForecast } from './forecast.ts'

export type DeliveryWorkerDeps = Omit<DispatchDeps, 'sender' | 'retrySeconds' | 'attemptLog'> & {
  systemDb: SystemDatabase
  due: DueJobs
}

export const deliverLimits = {
  inFlight: 800,
  perEndpoint: 32,
  turns: 400,
  pollMs: 500,
  idleMs: 1_000,
  longMs: 10_000,
  errorMs: 1_000,
} as const

const turnLimits = { inFlight: deliverLimits.turns, stopMs: 6_000 } as const

const retentionSeconds = 21_600
const dayMs = 86_400_000

/** Starts the consumer of deliveries, and the handlers for replays and retention. */
export async function workOutbound(
  config: OutboundConfig,
  deps: DeliveryWorkerDeps,
): Promise<Consumer> {
  const { queue, due, db, systemDb, clock, metrics, logger } = deps
  const { allow, timeoutMs, perAddress, retrySeconds, retentionDays, feedDays, logPerSecond } =
    config

  await workPeriodically(deps, 'outbound-retention', async () => {
    const daysAgo = (days: number) => new Date(clock.now().getTime() - days * dayMs)
    const cutoffs = { before: daysAgo(retentionDays), feed: daysAgo(feedDays) }
    const purged = await purgeHistory(systemDb, cutoffs)
    metrics.purged.inc(purged.events)
    if (purged.events > 0) logger.info(purged, 'expired outbound events deleted')
    return { data: {}, seconds: retentionSeconds }
  })

  const sender = createSender({ allow, timeoutMs, perAddress, clock })
  const attemptLog = createAttemptLog(logger, logPerSecond)
  const dispatcher = createDispatcher({ ...deps, sender, retrySeconds, attemptLog }, deliverLimits)
  const consumer = await startConsumer<TurnJob>({
    queue,
    due,
    name: endpointTurnQueue,
    onNotify: dispatcher.wake,
    limits: turnLimits,
    fetch: dispatcher.fetch,
    run: dispatcher.run,
    logger,
  })
  await due.work(deliverQueue, { batchSize: 100 }, async (jobs: Job<DeliverJob>[]) => {
    for (const job of jobs) await addLostAttempt(db, queue, job)
  })
  const others = await Promise.all([
    startSmall(turnQueue, deps, replayFetch, (job) =>
      workReplayTurn(db, queue, { job, entry: enterJobs(turnQueue, [job.id]) }, clock.now()),
    ),
    startSmall(drainQueue, deps, smallFetch, (job) => workDrain(db, queue, job, clock.now())),
    startSmall(trialQueue, deps, smallFetch, (job) => workTrial(db, queue, job, clock.now())),
    startSmall(forecastQueue, deps, smallFetch, (job) => workForecast(db, queue, job, clock.now())),
  ])
  return {
    ...consumer,
    async stop() {
      dispatcher.finish()
      await Promise.all([consumer.stop(), ...others.map((part) => part.stop())])
      await sender.close()
      attemptLog.close()
    },
  }
}

const smallFetch = { inFlight: 8 } as const
// Tenants take turns of one page, one at a time each. Three pages at once, because a fetch takes at
// most half of the free room.
const replayFetch = { inFlight: 4, groupConcurrency: 1 } as const

/** A consumer of jobs of one transaction each, which also ends the job. */
function startSmall<
  Name extends 'tenant-replay' | 'endpoint-drain' | 'endpoint-trial' | 'endpoint-forecast',
>(
  name: Name,
  { queue, due, logger }: DeliveryWorkerDeps,
  { inFlight, ...options }: { inFlight: number; groupConcurrency?: number },
  work: (job: Job<Jobs[Name]>) => Promise<void>,
): Promise<Consumer> {
  async function run(job: Job<Jobs[Name]>, abandoned: AbortSignal): Promise<void> {
    try {
      await work(job)
    } catch (error) {
      if (abandoned.aborted) return
      const facts = { queue: name, ...job.data }
      if (error instanceof JobGone) return logger.info(facts, 'job taken over by another worker')
      logger.error({ ...facts, err: error }, 'job failed')
      // If this fails too, the job returns without its heartbeat.
      await queue.fail(name, job, { message: String(error) }).catch(() => {})
    }
  }
  return startConsumer<Job<Jobs[Name]>>({
    queue,
    due,
    name,
    limits: { inFlight, stopMs: 6_000 },
    fetch: (batchSize) => queue.fetch<Jobs[Name]>(name, { batchSize, ...options }),
    run: (jobs, abandoned) => jobs.map((job) => run(job, abandoned)),
    logger,
  })
}
