import { Problem } from '#src/http/problems.ts'
import type { Answer, Job } from './messages.ts'

/** A job that waits for its turn or its answer. */
export type Queued = { id: number; lane: string; job: Job; resolve(answer: Answer): void }

/** A job that was taken. */
export type Taken = Queued & { reject(error: unknown): void }

type Waiting = Taken & { timer: NodeJS.Timeout }

/** Jobs of one lane that wait. */
const maxWaiting = 256

type Options = {
  maxWaitMs: number
  /** @throws if the job may not run now */
  mayRun(one: Queued): void
}

/** Jobs that wait, in a lane for each key. They are taken in turns: one of each lane, then the next of each. */
export function createLanes({ maxWaitMs, mayRun }: Options) {
  // The lane whose turn is next is first.
  const lanes = new Map<string, Set<Waiting>>()
  let lastId = 0

  function remove(one: Waiting): void {
    const lane = lanes.get(one.lane)
    lane?.delete(one)
    if (lane?.size === 0) lanes.delete(one.lane)
  }

  function waiting(one: Queued, reject: (error: unknown) => void): Waiting {
    const timer = setTimeout(() => {
      remove(waits)
      const detail = 'The event data had no turn to be checked.'
      reject(new Problem('unavailable', { detail, retryAfterSeconds: 1, reason: 'checks' }))
    }, maxWaitMs)
    const waits = { ...one, reject, timer }
    return waits
  }

  /** The first job that may run of the lane whose turn it is, which is then the last. */
  function takeNext(): Waiting | null {
    for (const [key, lane] of lanes) {
      lanes.delete(key)
      for (const one of lane) {
        lane.delete(one)
        clearTimeout(one.timer)
        try {
          mayRun(one)
        } catch (error) {
          one.reject(error)
          continue
        }
        if (lane.size > 0) lanes.set(key, lane)
        return one
      }
    }
    return null
  }

  return {
    isEmpty: () => lanes.size === 0,
    /** @throws Problem `unavailable` without a turn in time, `too-many-requests` if too many jobs wait */
    add(key: string, job: Job): Promise<Answer> {
      const lane = lanes.get(key) ?? new Set()
      if (lane.size >= maxWaiting) {
        const detail = `${maxWaiting} checks of event data of this tenant are waiting.`
        throw new Problem('too-many-requests', { detail, retryAfterSeconds: 1, reason: 'checks' })
      }
      lanes.set(key, lane)
      return new Promise((resolve, reject) => {
        lastId += 1
        lane.add(waiting({ id: lastId, lane: key, job, resolve }, reject))
      })
    },
    /** Up to `max` jobs; those that may not run are refused. */
    take(max: number): Taken[] {
      const found: Taken[] = []
      while (found.length < max) {
        const one = takeNext()
        if (one === null) break
        found.push(one)
      }
      return found
    },
    /** Jobs that were taken and not done: the next of their lanes. */
    giveBack(jobs: readonly Taken[]): void {
      for (const one of jobs.toReversed()) {
        const rest = lanes.get(one.lane) ?? []
        lanes.set(one.lane, new Set([waiting(one, one.reject), ...rest]))
      }
    },
    /** Refuses all that wait. */
    refuseAll(makeError: () => unknown): void {
      for (const one of [...lanes.values()].flatMap((lane) => [...lane])) {
        clearTimeout(one.timer)
        remove(one)
        one.reject(makeError())
      }
    },
  }
}
