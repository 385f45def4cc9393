import { setTimeout as wait } from 'node:timers/promises'
import { endsWithin } from '../timeout.ts'

type Stoppable = { stop(): Promise<void> }

/** The parts of the process to stop; null where the process has no such part. */
export type StoppedParts = {
  app: { leave(): void; endRequests(): Promise<boolean>; close(): Promise<unknown> } | null
  worker: Stoppable | null
  admin: { close(): Promise<unknown> } | null
  verification: Stoppable | null
  /** Tells the other processes that this one has ended; needs the connections of its part. */
  announcing: Stoppable | null
  /** Stopped when requests and jobs have ended, so that their traces are sent. */
  tracing: Stoppable
}

type Deps = { drainMs: number; logger: { error(facts: object, message: string): void } }

const jobsMs = 9_250 // running jobs are handed back after 8 s (src/worker.ts)
const announceMs = 250
const closeMs = 2_500 // sending the last traces takes up to 2 s (src/observability/tracing.ts)

/** The longest duration of a stop in milliseconds, without the drain delay. */
export const stopLimitMs = 12_000

/**
 * Stops in phases, each with a time limit:
 * 1. the worker takes no more jobs; for `drainMs` requests are still accepted, and each response
 *    closes its connection, so that clients and load balancers connect to another process;
 * 2. no new connections are accepted, idle ones are closed, running requests are answered;
 * 3. running jobs finish or are handed back to the queue;
 * 4. connections to the database are closed.
 * @returns false if something had to be aborted
 */
export async function stopInPhases(parts: StoppedParts, deps: Deps): Promise<boolean> {
  const { app, worker, admin, verification, announcing, tracing } = parts
  const { drainMs, logger } = deps

  /** Never rejects, so that an error in one phase does not skip the others. */
  async function end(phase: string, ms: number, work: Promise<unknown> | undefined) {
    const reason = await endsWithin(ms, work).then(
      (inTime) => (inTime ? null : 'it took too long'),
      (error: unknown) => error,
    )
    if (reason !== null) logger.error({ phase, err: reason }, 'shutdown phase aborted')
    return reason === null
  }

  // Information for operators: it may fail, and needs the connections that are closed later.
  const withdraw = () => endsWithin(announceMs, announcing?.stop()).catch(() => {})
  if (app === null) await withdraw()
  const working = worker?.stop()
  const jobs = end('jobs', jobsMs, working)
  app?.leave()
  if (app !== null && drainMs > 0) await wait(drainMs)
  const answered = (await app?.endRequests()) ?? true
  if (!answered) logger.error({ phase: 'requests' }, 'shutdown phase aborted')
  if (app !== null) await withdraw()
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
