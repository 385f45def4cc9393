import type { PgBoss } from 'pg-boss'
import type { JobLog } from '#src/observability/logger.ts'
import type { DeliverJob } from '#src/queue/queue.ts'
import { endsWithin } from '#src/runtime/timeout.ts'
import type { Dispatch } from './dispatch.ts'
import { deliverChannel, deliverQueue } from './job.ts'

export type Consumer = {
  /** Fetches jobs now. */
  wake(): void
  /** Takes no more jobs, waits for those in progress, and returns the rest to the queue. */
  stop(): Promise<void>
}

export type ConsumerLimits = {
  /** Jobs in progress in this process. */
  inFlight: number
  /** Jobs of one endpoint in progress, in all processes together. */
  perEndpoint: number
  /** Between fetches without a wake signal: no signal is sent when a retry becomes due. */
  pollMs: number
  /** How long `stop` waits for jobs in progress. */
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
 * Takes jobs from the queue as soon as there is room; no job waits for another. One endpoint may have
 * at most `perEndpoint` jobs in progress, and at most an eighth of the free room, so that endpoints
 * that hang always leave room for one that responds.
 * @param listens whether to LISTEN for new jobs; if not, it only polls
 */
export async function startConsumer(
  queue: PgBoss,
  dispatch: Dispatch,
  logger: JobLog,
  listens: boolean,
  limits: ConsumerLimits = consumerLimits,
): Promise<Consumer> {
  const wakeSignal = createWakeSignal()
  const inProgress = new Map<string, Promise<void>>()
  const abandoned = new AbortController()
  let stopping = false

  async function run(): Promise<void> {
    while (!stopping) {
      const taken = await take().catch((error) => {
        logger.error({ err: error }, 'delivery jobs could not be fetched')
        return null
      })
      if (taken === null) await wakeSignal.wait(errorWaitMs)
      else if (taken === 0) await wakeSignal.wait(limits.pollMs)
    }
  }

  async function take(): Promise<number> {
    const room = limits.inFlight - inProgress.size
    if (room === 0) return 0
    const jobs = await queue.fetch<DeliverJob>(deliverQueue, {
      batchSize: Math.min(room, batchJobs),
      groupConcurrency: Math.max(1, Math.min(limits.perEndpoint, room >> 3)),
    })
    for (const [index, done] of dispatch(jobs, abandoned.signal).entries()) {
      const id = jobs[index]?.id ?? ''
      const finished = done.then(() => {
        inProgress.delete(id)
        wakeSignal.ring()
      })
      inProgress.set(id, finished)
    }
    return jobs.length
  }

  const listening = listens ? await listen(queue, wakeSignal.ring, logger) : undefined
  const running = run()

  return {
    wake: wakeSignal.ring,
    async stop() {
      stopping = true
      wakeSignal.ring()
      await Promise.all([running, listening?.close()])
      await endsWithin(limits.stopMs, Promise.all(inProgress.values()))
      abandoned.abort()
      // Another worker can take them at once.
      if (inProgress.size > 0) await queue.fail(deliverQueue, [...inProgress.keys()])
    },
  }
}

/** Wakes on NOTIFY. If LISTEN fails, polling still finds the jobs. */
async function listen(queue: PgBoss, wake: () => void, logger: JobLog) {
  try {
    return await queue.getDb().listen?.(deliverChannel, wake, wake)
  } catch (error) {
    logger.warn({ err: error }, 'LISTEN for delivery jobs failed; polling instead')
    return undefined
  }
}

/** A coalescing wake-up signal: `ring()` while nobody waits is remembered for the next `wait()`. */
type WakeSignal = {
  ring(): void
  /** Resolves on `ring()`, or after `ms`. */
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
