import type { Job, PgBoss } from 'pg-boss'
import type { JobLog } from '#src/observability/logger.ts'
import { type Repeated, repeat } from '#src/runtime/repeat.ts'
import { endsWithin } from '#src/runtime/timeout.ts'
import type { DueJobs } from './due-jobs.ts'
import { heartbeatMs, type Jobs } from './queue.ts'

export type Consumer = {
  /** Takes no more jobs, waits for those in progress, and returns the rest to the queue. */
  stop(): Promise<void>
}

export type ConsumerOptions<Fetched extends Job> = {
  queue: PgBoss
  due: Pick<DueJobs, 'watch'>
  name: keyof Jobs
  /** Called with the detail of each notification; with an empty one when some may have been lost. */
  onNotify?(detail: string): void
  limits: ConsumerLimits
  /**
   * Fetches jobs that are due.
   * @param batchSize at most this many
   * @param room how many more jobs may be in progress
   */
  fetch(batchSize: number, room: number): Promise<readonly Fetched[]>
  run: Dispatch<Fetched>
  logger: JobLog
}

/**
 * Runs jobs and ends them in the queue. Returns one promise per job, in their order; none rejects.
 * After `abandoned` nothing more is recorded, and another worker repeats the jobs.
 */
export type Dispatch<Fetched extends Job> = (
  jobs: readonly Fetched[],
  abandoned: AbortSignal,
) => readonly Promise<void>[]

export type ConsumerLimits = {
  /** Jobs in progress in this process. */
  inFlight: number
  /** How long `stop` waits for jobs in progress. */
  stopMs: number
}

const batchJobs = 200
const errorWaitMs = 1_000
/** The pause after a fetch that found fewer jobs than it asked for, so that those begin before the next fetch. */
const fewWaitMs = 25

/**
 * Takes jobs from the queue as soon as there is room; no job waits for another. One fetch takes at
 * most half of the free room, so that there is always some left for a job that ends soon. While a
 * job is in progress, its heartbeat tells the other workers that this one lives.
 */
export async function startConsumer<Fetched extends Job>(
  options: ConsumerOptions<Fetched>,
): Promise<Consumer> {
  const { queue, name, limits, logger } = options
  const wakeSignal = createWakeSignal()
  const inProgress = new Map<Fetched, InProgress>()
  const abandoned = new AbortController()
  let stopping = false

  async function run(): Promise<void> {
    while (!stopping) {
      const taken = await take().catch((error) => {
        logger.error({ queue: name, err: error }, 'jobs could not be fetched')
        return null
      })
      if (taken === null) await wakeSignal.wait(errorWaitMs)
      else if (taken === 'none') await wakeSignal.wait()
      else if (taken === 'few') await wakeSignal.wait(fewWaitMs)
    }
  }

  async function take(): Promise<'none' | 'few' | 'full'> {
    const room = limits.inFlight - inProgress.size
    const batchSize = Math.min(room >> 1, batchJobs)
    if (batchSize === 0) return 'none'
    const jobs = await options.fetch(batchSize, room)
    const since = performance.now()
    for (const [index, done] of options.run(jobs, abandoned.signal).entries()) {
      const job = jobs[index]
      if (job === undefined) continue
      const ended = done.then(() => {
        inProgress.delete(job)
        wakeSignal.ring()
      })
      inProgress.set(job, { since, ended })
    }
    if (jobs.length === 0) return 'none'
    return jobs.length < batchSize ? 'few' : 'full'
  }

  const heartbeat = startHeartbeat(queue, name, inProgress, logger)
  options.due.watch(name, (detail) => {
    wakeSignal.ring()
    if (detail !== undefined) options.onNotify?.(detail)
  })
  const running = run()

  return {
    async stop() {
      stopping = true
      wakeSignal.ring()
      await running
      await endsWithin(
        limits.stopMs,
        Promise.all([...inProgress.values()].map(({ ended }) => ended)),
      )
      abandoned.abort()
      void heartbeat.stop()
      // Another worker need not wait until their heartbeats lapse.
      if (inProgress.size > 0) await queue.fail(name, [...inProgress.keys()])
    },
  }
}

type InProgress = {
  /** When the fetch began, in ms of `performance.now()`. */
  since: number
  ended: Promise<void>
}

/** Renews the heartbeat of jobs in progress. A fetch sets the first one, so most jobs need no other. */
function startHeartbeat(
  queue: PgBoss,
  name: string,
  inProgress: ReadonlyMap<Job, InProgress>,
  logger: JobLog,
): Repeated {
  return repeat(beat, {
    everyMs: heartbeatMs,
    onError: (error) => logger.warn({ queue: name, err: error }, 'heartbeat failed'),
  })

  async function beat(): Promise<void> {
    const before = performance.now() - heartbeatMs
    const jobs = [...inProgress].flatMap(([job, { since }]) => (since <= before ? [job] : []))
    if (jobs.length > 0) await queue.touch(name, jobs)
  }
}

/** A coalescing wake-up signal: `ring()` without a waiter is remembered for the next `wait()`. */
type WakeSignal = {
  ring(): void
  /** Resolves on `ring()`, or after `ms` if given. */
  wait(ms?: number): Promise<void>
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
        const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
        wake = resolve
        await promise
        clearTimeout(timer)
        wake = null
      }
      isRung = false
    },
  }
}
