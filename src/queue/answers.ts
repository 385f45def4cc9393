import { setTimeout as pause } from 'node:timers/promises'
import { TenantBusy } from '#src/db/connections/tenant-share.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { findEnded } from './job-table.ts'
import type { Jobs } from './queue.ts'

/**
 * A request waited for a job and has no answer. `missed`: no worker took the job in time, and none will
 * work on it any more. `lost`: a worker took it and did not answer.
 */
export class UnansweredError extends Error {
  readonly fault: 'missed' | 'lost'

  constructor(fault: 'missed' | 'lost', queue: string) {
    super(`a job of the queue ${queue} was ${fault}`)
    this.name = 'UnansweredError'
    this.fault = fault
  }
}

export type AnswerLimits = {
  /** Until a worker has to have the job; it asks `isTimely` before it works on it. */
  takenSeconds: number
  /** The limit of the whole wait. */
  answeredMs: number
}

/** A job whose output a request of this tenant waits for. */
export type AwaitedJob = { queue: keyof Jobs; id: string; tenantId: string }

export type Answers = {
  /**
   * To be called before a job is added.
   * @throws TenantBusy if `maxWaiting` requests of the tenant wait
   */
  requireRoom(tenantId: string): void
  /**
   * Waits for the output of a job that is committed. It holds no connection.
   * @throws UnansweredError
   */
  wait(job: AwaitedJob, limits: AnswerLimits): Promise<unknown>
  /** Ends every wait with UnansweredError. */
  close(): void
}

type Waiting = AwaitedJob & { takenSeconds: number; end(answer: unknown): void }

const everyMs = 50
/** Requests of one tenant that wait in this process: each adds an id to every look. */
export const maxWaiting = 32

/** Looks for the answers of all requests of this process that wait, in one statement for each queue. */
export function createAnswers(connection: Queryable): Answers {
  const waiting = new Map<string, Waiting>()
  let isLooking = false

  async function look(): Promise<void> {
    if (isLooking) return
    isLooking = true
    while (waiting.size > 0) {
      await pause(everyMs)
      for (const [queue, jobs] of Map.groupBy(waiting, ([, job]) => job.queue)) {
        // While the database does not answer, each wait ends by its own limit.
        await lookFor(queue, jobs).catch(() => {})
      }
    }
    isLooking = false
  }

  async function lookFor(queue: keyof Jobs, jobs: readonly [string, Waiting][]): Promise<void> {
    const takenSeconds = Math.max(...jobs.map(([, job]) => job.takenSeconds))
    const ids = jobs.map(([id]) => id)
    for (const { id, state, output } of await findEnded(connection, queue, ids, takenSeconds)) {
      const fault = state === 'created' ? 'missed' : 'lost'
      waiting.get(id)?.end(state === 'completed' ? output : new UnansweredError(fault, queue))
    }
  }

  return {
    requireRoom(tenantId) {
      const own = waiting.values().filter((one) => one.tenantId === tenantId)
      if (own.toArray().length >= maxWaiting) {
        throw new TenantBusy(`${maxWaiting} requests of your tenant are waiting for a worker.`)
      }
    },
    async wait(job, { takenSeconds, answeredMs }) {
      const { queue, id } = job
      const { promise, resolve: end } = Promise.withResolvers<unknown>()
      const timer = setTimeout(() => end(new UnansweredError('lost', queue)), answeredMs)
      waiting.set(id, { ...job, takenSeconds, end })
      void look()
      const answer = await promise
      clearTimeout(timer)
      waiting.delete(id)
      if (answer instanceof UnansweredError) throw answer
      return answer
    },
    close() {
      for (const { queue, end } of waiting.values()) end(new UnansweredError('lost', queue))
    },
  }
}
