import { setTimeout as wait } from 'node:timers/promises'
import { isLockTimeout } from '#src/db/errors.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'

/**
 * How long a schema change waits for a lock, in milliseconds. Queries on the table wait behind it, and then
 * until the change is committed; a request waits no longer than `requestLockMs`, 300 ms.
 */
export const lockWaitMs = 100

const attempts = 25
const pauseMs = 300

/**
 * Retries while another transaction holds the lock. Between attempts, waiting queries continue.
 * Failed work must have changed nothing, or be repeatable.
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

/** @param what the state in which the work was abandoned */
export function lockRefusal(what: string): OperatorError {
  return new OperatorError(
    `${what} Another transaction held a lock during ${attempts} attempts in ten seconds.`,
    'Find it (SELECT pid, application_name, xact_start FROM pg_stat_activity ORDER BY xact_start), end it and run migrate again.',
  )
}

/** @throws lockRefusal if the error is a lock timeout of what follows the migrations; otherwise the error */
export function refuseUnfinished(error: unknown): never {
  if (!isLockTimeout(error)) throw error
  throw lockRefusal(
    'The migrations are applied; the queues, functions, policies or privileges are not.',
  )
}
