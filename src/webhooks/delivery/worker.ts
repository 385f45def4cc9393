import type { OutboundSetup } from '#src/config/parse.ts'
import type { IdentityPlane } from '#src/db/system-database.ts'
import { createSender } from '#src/webhooks/client/client.ts'
import { type Deliverer, startDeliverer } from './consumer.ts'
import { createDeliver, type DeliverMeans } from './dispatch.ts'
import { type ReplayPage, workReplayPage } from './replays.ts'
import { purgeEvents } from './retention.ts'

export type OutboundWork = Omit<DeliverMeans, 'sender' | 'retrySeconds'> & {
  plane: IdentityPlane
  /** Whether the database can announce new jobs; a pooler in transaction mode does not let it. */
  announced: boolean
}

const retentionSeconds = 21_600
const pollSeconds = 0.5
const dayMs = 86_400_000

/** Starts sending what is due, working on replays, and letting go of what is old. */
export async function workOutbound(setup: OutboundSetup, work: OutboundWork): Promise<Deliverer> {
  const { queue, db, plane, announced, clock, metrics, logger } = work
  const { allow, timeoutMs, retrySeconds, retentionDays } = setup

  await queue.work('outbound-retention', async () => {
    const before = new Date(clock.now().getTime() - retentionDays * dayMs)
    const events = await purgeEvents(db, plane, before)
    metrics.purged.inc(events)
    if (events > 0) logger.info({ events }, 'old events let go of')
    await queue.send('outbound-retention', {}, { startAfter: retentionSeconds })
  })
  await queue.send('outbound-retention', {})
  await queue.work<ReplayPage>(
    'endpoint-replay',
    { pollingIntervalSeconds: pollSeconds },
    async (jobs) => {
      for (const { data } of jobs) await workReplayPage(db, queue, data, clock.now())
    },
  )

  const sender = createSender({ allow, timeoutMs, clock })
  const deliver = createDeliver({ ...work, sender, retrySeconds })
  const deliverer = await startDeliverer(queue, deliver, logger, announced)
  return {
    ...deliverer,
    async stop() {
      await deliverer.stop()
      await sender.close()
    },
  }
}
