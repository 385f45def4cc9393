import { setTimeout as wait } from 'node:timers/promises'
import { endsWithin } from './timeout.ts'

type Stoppable = { stop(): Promise<void> }

/** What a stop ends; null where the process has no such part. */
export type StoppedParts = {
  app: { leave(): void; endRequests(): Promise<boolean>; close(): Promise<unknown> } | null
  worker: Stoppable | null
  admin: { close(): Promise<unknown> } | null
  verification: Stoppable | null
  /** What is left to tell of them is sent when requests and jobs have ended. */
  tracing: Stoppable
}

type Means = { drainMs: number; logger: { error(facts: object, message: string): void } }

const jobsMs = 9_500 // those under way are handed back after 8 s (src/worker.ts)
const closeMs = 2_500 // the last traces are given 2 s (src/observability/tracing.ts)

/** How long a stop takes at most, in milliseconds, but for its first phase. */
export const stopLimitMs = 12_000

/**
 * Stops in phases, each with a limit:
 * 1. no job is taken any more; for `drainMs` requests still are, and each answer ends its
 *    connection, so that whoever sends them goes elsewhere;
 * 2. no new connections; idle ones are closed, requests under way are answered;
 * 3. jobs under way have ended or are handed back;
 * 4. connections to the database are closed.
 * @returns false when something had to be cut
 */
export async function stopInPhases(parts: StoppedParts, deps: Means): Promise<boolean> {
  const { app, worker, admin, verification, tracing } = parts
  const { drainMs, logger } = deps

  /** Never rejects: what goes wrong in one phase must not keep the others from being ended. */
  async function end(phase: string, ms: number, work: Promise<unknown> | undefined) {
    const reason = await endsWithin(ms, work).then(
      (inTime) => (inTime ? null : 'it took too long'),
      (error: unknown) => error,
    )
    if (reason !== null) logger.error({ phase, err: reason }, 'the stop had to cut something')
    return reason === null
  }

  const working = worker?.stop()
  const jobs = end('jobs', jobsMs, working)
  app?.leave()
  if (app !== null && drainMs > 0) await wait(drainMs)
  const answered = (await app?.endRequests()) ?? true
  if (!answered) logger.error({ phase: 'requests' }, 'the stop had to cut something')
  const handedBack = await jobs
  const rest = Promise.all([
    app?.close(),
    working,
    verification?.stop(),
    admin?.close(),
    tracing.stop(),
  ])
  return (await end('connections', closeMs, rest)) && answered && handedBack
}
