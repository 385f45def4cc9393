import type { PgBoss, WorkHandlerFor, WorkOptions } from 'pg-boss'
import type { JobLog } from '#src/observability/logger.ts'
import { repeat } from '#src/runtime/repeat.ts'
import { findDueQueues } from './job-table.ts'
import { heartbeatMs, type Jobs } from './queue.ts'

/** Wakes the consumers of queues whose jobs are due. */
export type DueJobs = {
  /** Calls `wake` twice a second while jobs of the queue are due. */
  watch(name: keyof Jobs, wake: () => void): void
  /** As `work` of pg-boss, which fetches when jobs are due instead of twice a second. */
  work<Name extends keyof Jobs, const Options extends WorkOptions>(
    name: Name,
    options: Options,
    handler: WorkHandlerFor<Options, Jobs[Name], unknown>,
  ): Promise<void>
  stop(): Promise<void>
}

const everyMs = 500
/** Consumers also fetch after so long, in case the question which queues are due fails for a while. */
export const unwokenMs = 30_000

/**
 * Asks for all queues of this process at once which have jobs that are due. A fetch of each queue twice
 * a second would be most of what an installation without traffic costs.
 */
export function startDueJobs(
  queue: Pick<PgBoss, 'getDb' | 'work' | 'notifyWorker'>,
  logger: JobLog,
): DueJobs {
  const wakes = new Map<string, (() => void)[]>()
  const repeated = repeat(wakeDue, {
    everyMs,
    onError: (error) => logger.warn({ err: error }, 'due jobs could not be looked up'),
  })

  async function wakeDue(): Promise<void> {
    if (wakes.size === 0) return
    for (const name of await findDueQueues(queue, [...wakes.keys()])) {
      for (const wake of wakes.get(name) ?? []) wake()
    }
  }

  function watch(name: string, wake: () => void): void {
    wakes.set(name, [...(wakes.get(name) ?? []), wake])
  }

  return {
    watch,
    async work(name, options, handler) {
      const id = await queue.work(name, { ...pace, ...options }, handler as never)
      watch(name, () => queue.notifyWorker(id))
    },
    stop: repeated.stop,
  }
}

/** How often pg-boss looks for jobs unasked, and how often those in progress send a heartbeat. */
const pace = {
  pollingIntervalSeconds: unwokenMs / 1_000,
  heartbeatRefreshSeconds: heartbeatMs / 1_000,
} as const
