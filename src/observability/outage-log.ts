import { createFailureLog } from './failure-log.ts'
import type { JobLog } from './logger.ts'

export type OutageLog = JobLog &
  Record<'debug', (facts: object, message: string) => void> & {
    /** Logs what was counted. */
    close(): void
  }

const quietMs = 10_000

/**
 * The log of a worker. While the database is unavailable, each of its parts fails again and again;
 * their entries become one line a second without a stack, with the number of failures, the newest
 * reason and the messages of the `affected` parts. One more line tells when no failure has followed
 * for ten seconds. All other entries are passed on.
 * @param isOutage whether an error means that the database is unavailable
 */
export function createOutageLog(
  log: Omit<OutageLog, 'close'>,
  isOutage: (error: unknown) => boolean,
): OutageLog {
  const affected = new Set<string>()
  let quiet: NodeJS.Timeout | null = null
  const failures = createFailureLog(log, 'the database is unavailable', (newest) => {
    const described = { reason: reasonOf(newest), affected: [...affected].sort() }
    affected.clear()
    return described
  })

  function addFailure(error: unknown, message: string): void {
    affected.add(message)
    failures.add(error)
    if (quiet !== null) clearTimeout(quiet)
    quiet = setTimeout(end, quietMs).unref()
  }

  function end(): void {
    quiet = null
    log.info({ quietMs }, 'the database has caused no more failures')
  }

  const write = (level: 'warn' | 'error') => (facts: object, message: string) => {
    if ('err' in facts && isOutage(facts.err)) addFailure(facts.err, message)
    else log[level](facts, message)
  }

  return {
    debug: (facts, message) => log.debug(facts, message),
    info: (facts, message) => log.info(facts, message),
    warn: write('warn'),
    error: write('error'),
    close() {
      if (quiet !== null) clearTimeout(quiet)
      failures.close()
    },
  }
}

/** An error of several addresses (AggregateError) has a code and no message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
