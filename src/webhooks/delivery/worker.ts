import type { Job } from 'pg-boss'
import type { OutboundConfig } from '#src/config/parse.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { enterJobs, JobGone } from '#src/queue/enter-jobs.ts'
import { createSender } from '#src/webhooks/client/client.ts'
import { type Consumer, startConsumer } from './consumer.ts'
import { createDispatcher, type DispatchDeps } from './dispatch.ts'
import { type ReplayPage, workReplayPage } from './replays.ts'
import { purgeEvents } from './retention.ts'

export type DeliveryWorkerDeps = Omit<DispatchDeps, 'sender' | 'retrySeconds'> & {
  systemDb: SystemDatabase
  /** Whether LISTEN works; it does not through a pooler in transaction mode. */
  listens: boolean
}

const retentionSeconds = 21_600
const pollSeconds = 0.5
const dayMs = 86_400_000

/** Starts the consumer of deliveries, and the handlers for replays and retention. */
export async function workOutbound(
  config: OutboundConfig,
  deps: DeliveryWorkerDeps,
): Promise<Consumer> {
  const { queue, db, systemDb, listens, clock, metrics, logger } = deps
  const { allow, timeoutMs, retrySeconds, retentionDays } = config

  await queue.work('outbound-retention', async () => {
    const before = new Date(clock.now().getTime() - retentionDays * dayMs)
    const events = await purgeEvents(systemDb, before)
    metrics.purged.inc(events)
    if (events > 0) logger.info({ events }, 'expired outbound events deleted')
    await queue.send('outbound-retention', {}, { startAfter: retentionSeconds })
  })
  await queue.send('outbound-retention', {})
  await queue.work<ReplayPage>(
    'endpoint-replay',
    { pollingIntervalSeconds: pollSeconds },
    async (jobs) => {
      for (const job of jobs) await workReplay(job)
    },
  )

  async function workReplay({ id, data: { replayId } }: Job<ReplayPage>): Promise<void> {
    const entry = enterJobs('endpoint-replay', [id])
    try {
      await workReplayPage(db, queue, entry, replayId, clock.now())
    } catch (error) {
      // The queue has given the page to another worker.
      if (!(error instanceof JobGone)) throw error
      logger.info({ replayId }, 'replay page taken over by another worker')
    }
  }

  const sender = createSender({ allow, timeoutMs, clock })
  const dispatch = createDispatcher({ ...deps, sender, retrySeconds })
  const consumer = await startConsumer(queue, dispatch, logger, listens)
  return {
    ...consumer,
    async stop() {
      await consumer.stop()
      await sender.close()
    },
  }
}
