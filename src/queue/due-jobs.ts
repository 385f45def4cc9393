import type { PgBoss, WorkHandlerFor, WorkOptions } from 'pg-boss'
import type { JobLog } from '#src/observability/logger.ts'
import { lookAtJobs } from './job-table.ts'
import { jobsChannel } from './jobs.ts'
import { heartbeatMs, type Jobs } from './queue.ts'
import { createTakeover, lapseMs } from './takeover.ts'

/** Wakes the consumers of queues whose jobs are due. */
export type DueJobs = {
  /**
   * Calls `wake` when jobs are added to the queue, and twice a second while some are due.
   * @param wake `detail`: of the notification (`announceJob`); empty if some may have been lost
   */
  watch(name: keyof Jobs, wake: (detail?: string) => void): void
  /** As `work` of pg-boss, which fetches when jobs are due instead of twice a second. */
  work<Name extends keyof Jobs, const Options extends WorkOptions>(
    name: Name,
    options: Options,
    handler: WorkHandlerFor<Options, Jobs[Name], unknown>,
  ): Promise<void>
  stop(): Promise<void>
}

type Options = {
  queue: Pick<PgBoss, 'getDb' | 'work' | 'notifyWorker' | 'fail'>
  /** Whether LISTEN works; it does not through a pooler in transaction mode. */
  listens: boolean
  logger: JobLog
}

/** Between looks while jobs are due or in progress, or cannot be announced; and at least. */
const busyMs = 500
/**
 * Between looks otherwise. The looks only matter for jobs whose notification was lost, and for those of
 * dead workers: another worker continues them within 10 s, which are `lapseMs`, this time, the second after
 * which they are tried again, and `busyMs`.
 */
const quietMs = 3_000

/**
 * Knows when jobs are due: their notification says that they were added, and each look at the queues when
 * the next one is due. A look is one statement for all queues of this process; it also finds the jobs of
 * dead workers, and returns them to their queues.
 */
export async function startDueJobs({ queue, listens, logger }: Options): Promise<DueJobs> {
  const wakes = new Map<string, ((detail?: string) => void)[]>()
  const takeover = createTakeover(queue, logger)
  let next: { timer: NodeJS.Timeout; at: number } | null = null
  let looking: Promise<void> | null = null
  let isStopped = false
  /** When jobs were last added or due, or in progress in any process; in ms of `performance.now()`. */
  let busyAt = performance.now()
  let lookedAtActive = Number.NEGATIVE_INFINITY
  const listening = listens ? await listen() : undefined

  function lookWithin(ms: number): void {
    const at = performance.now() + ms
    if (isStopped || (next !== null && next.at <= at)) return
    clearTimeout(next?.timer)
    next = { timer: setTimeout(start, ms).unref(), at }
  }

  function start(): void {
    next = null
    looking ??= look()
      .catch((error) => {
        takeover.distrust()
        logger.warn({ err: error }, 'due jobs could not be looked up')
        return busyMs
      })
      .then((ms) => {
        looking = null
        lookWithin(ms)
      })
  }

  /** @returns the time until the next look */
  async function look(): Promise<number> {
    const begun = performance.now()
    // Jobs in progress are looked at less often while there are some: there may be many.
    const looksAtActive = busyAt < lookedAtActive || begun >= lookedAtActive + quietMs - busyMs
    const found = await lookAtJobs(queue, [...wakes.keys()], looksAtActive ? lapseMs : null)
    if (performance.now() - begun > heartbeatMs) takeover.distrust()
    for (const name of found.due) wake(name)
    if (looksAtActive) {
      lookedAtActive = begun
      await takeover.takeOver(found.lapsed)
    }
    if (found.isActive || found.due.length > 0) busyAt = performance.now()
    if (busyAt >= lookedAtActive || listening === undefined) return busyMs
    return Math.min(Math.max(found.nextMs ?? quietMs, busyMs), quietMs)
  }

  function wake(name: string, detail?: string): void {
    for (const one of wakes.get(name) ?? []) one(detail)
  }

  async function listen() {
    try {
      return await queue.getDb().listen?.(jobsChannel, onNotify, onReconnect)
    } catch (error) {
      logger.warn({ err: error }, 'LISTEN for jobs failed; they are looked for twice a second')
      return undefined
    }
  }

  function onNotify(payload: string): void {
    const [name = '', detail] = payload.split(' ')
    wake(name, detail)
    busyAt = performance.now()
    lookWithin(busyMs)
  }

  function onReconnect(): void {
    for (const name of wakes.keys()) wake(name, '')
  }

  function watch(name: string, wake: (detail?: string) => void): void {
    wakes.set(name, [...(wakes.get(name) ?? []), wake])
  }

  lookWithin(busyMs)
  return {
    watch,
    async work(name, options, handler) {
      const id = await queue.work(name, { ...pace, ...options }, handler as never)
      watch(name, () => queue.notifyWorker(id))
    },
    async stop() {
      isStopped = true
      clearTimeout(next?.timer)
      await Promise.all([looking, listening?.close()])
    },
  }
}

/** How often pg-boss looks for jobs unasked, and how often those in progress send a heartbeat. */
const pace = {
  pollingIntervalSeconds: 86_400, // it is always woken
  heartbeatRefreshSeconds: heartbeatMs / 1_000,
} as const
