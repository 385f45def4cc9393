import type { PgBoss } from 'pg-boss'
import type { JobLog } from '#src/observability/logger.ts'
import type { DeliverJob } from '#src/queue/queue.ts'
import { endsWithin } from '#src/runtime/timeout.ts'
import type { Dispatch } from './dispatch.ts'
import { deliverChannel, deliverQueue } from './job.ts'

export type Consumer = {
  /** Looks for jobs now. */
  wake(): void
  /** Takes no more jobs, lets those under way finish for a time, hands back the rest. */
  stop(): Promise<void>
}

export type ConsumerLimits = {
  /** Jobs under way in this process. */
  inFlight: number
  /** Jobs of one endpoint under way, in all processes together. */
  perEndpoint: number
  /** Between looks when nothing wakes: retries come due unannounced. */
  pollMs: number
  stopMs: number
}

export const consumerLimits = {
  inFlight: 800,
  perEndpoint: 32,
  pollMs: 500,
  stopMs: 6_000,
} as const satisfies ConsumerLimits

const batchJobs = 200
const errorWaitMs = 1_000

/**
 * Streams jobs from the queue: each is taken as soon as there is room for it, and none waits for
 * another. No endpoint may have more than `perEndpoint` jobs under way, nor more than an eighth of
 * the room that is left: however many endpoints hang, there is room for one that does not.
 * @param announced whether this process can be told of new jobs; else it looks every so often
 */
export async function startConsumer(
  queue: PgBoss,
  dispatch: Dispatch,
  logger: JobLog,
  announced: boolean,
  limits: ConsumerLimits = consumerLimits,
): Promise<Consumer> {
  const wakeSignal = createWakeSignal()
  const underWay = new Map<string, Promise<void>>()
  const abandoned = new AbortController()
  let stopping = false

  async function run(): Promise<void> {
    while (!stopping) {
      const taken = await take().catch((error) => {
        logger.error({ err: error }, 'no jobs could be taken')
        return null
      })
      if (taken === null) await wakeSignal.wait(errorWaitMs)
      else if (taken === 0) await wakeSignal.wait(limits.pollMs)
    }
  }

  async function take(): Promise<number> {
    const room = limits.inFlight - underWay.size
    if (room === 0) return 0
    const jobs = await queue.fetch<DeliverJob>(deliverQueue, {
      batchSize: Math.min(room, batchJobs),
      groupConcurrency: Math.max(1, Math.min(limits.perEndpoint, room >> 3)),
    })
    for (const [index, done] of dispatch(jobs, abandoned.signal).entries()) {
      const id = jobs[index]?.id ?? ''
      const finished = done.then(() => {
        underWay.delete(id)
        wakeSignal.ring()
      })
      underWay.set(id, finished)
    }
    return jobs.length
  }

  const listening = announced ? await listen(queue, wakeSignal.ring, logger) : undefined
  const running = run()

  return {
    wake: wakeSignal.ring,
    async stop() {
      stopping = true
      wakeSignal.ring()
      await Promise.all([running, listening?.close()])
      await endsWithin(limits.stopMs, Promise.all(underWay.values()))
      abandoned.abort()
      // To be tried again at once, by whoever is left.
      if (underWay.size > 0) await queue.fail(deliverQueue, [...underWay.keys()])
    },
  }
}

/** Wakes when a commit says that there are jobs. Without it, looking every so often has to do. */
async function listen(queue: PgBoss, wake: () => void, logger: JobLog) {
  try {
    return await queue.getDb().listen?.(deliverChannel, wake, wake)
  } catch (error) {
    logger.warn({ err: error }, 'deliveries are looked for, not announced')
    return undefined
  }
}

/** Wakes one who waits. Rung while nobody does, it keeps the ring for whoever waits next. */
type WakeSignal = {
  ring(): void
  /** Resolves when it rings, or after `ms`. */
  wait(ms: number): Promise<void>
}

function createWakeSignal(): WakeSignal {
  let isRung = false
  let wake: (() => void) | null = null
  return {
    ring() {
      isRung = true
      wake?.()
    },
    async wait(ms) {
      if (!isRung) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, ms)
        wake = resolve
        await promise
        clearTimeout(timer)
        wake = null
      }
      isRung = false
    },
  }
}
