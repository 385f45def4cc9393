import { setTimeout as pause } from 'node:timers/promises'
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
  /** Of the whole wait. */
  answeredMs: number
}

export type Answers = {
  /**
   * Waits for the output of a job that is committed. It holds no connection.
   * @throws UnansweredError
   */
  wait(queue: keyof Jobs, id: string, limits: AnswerLimits): Promise<unknown>
  /** Those who still wait get no answer. */
  close(): void
}

type Waiting = { queue: keyof Jobs; takenSeconds: number; end(answer: unknown): void }

const everyMs = 50

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
    async wait(queue, id, { takenSeconds, answeredMs }) {
      const { promise, resolve: end } = Promise.withResolvers<unknown>()
      const timer = setTimeout(() => end(new UnansweredError('lost', queue)), answeredMs)
      waiting.set(id, { queue, takenSeconds, end })
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
