import { setTimeout as wait } from 'node:timers/promises'
import { OperatorError } from '#src/runtime/operator-error.ts'

/**
 * How long a change of the schema waits for a lock, in milliseconds. Every query that comes to the
 * table meanwhile waits behind it, so this is less than what the shortest of them may wait: half a
 * second to record an event.
 */
export const lockWaitMs = 300

const attempts = 10
const pauseMs = 700
const lockTimeout = '55P03'

/**
 * Tries again while somebody else holds a lock that the work needs; between tries whoever waited
 * behind it goes on. What fails must have changed nothing, or be fit to be begun anew.
 */
export async function untilLocked<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isLockTimeout(error) || attempt === attempts) throw error
    }
    await wait(pauseMs)
  }
}

export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === lockTimeout
}

/** @param what was given up, and what was kept of it */
export function lockRefusal(what: string): OperatorError {
  return new OperatorError(
    `${what} Some transaction held a lock through ${attempts} tries, one a second.`,
    'Find it (SELECT pid, application_name, xact_start FROM pg_stat_activity ORDER BY xact_start), end it and run migrate again.',
  )
}
