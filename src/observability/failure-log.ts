import type { JobLog } from './logger.ts'

const intervalMs = 1_000

/** Logs failures of one kind; many at once are counted instead of logged one by one. */
type FailureLog = {
  /** Logs the failure at once, or counts it if another was logged within the last second. */
  add(error: unknown): void
  /** Logs what was counted and stops. */
  close(): void
}

/**
 * A log of failures with at most one line a second. Each line has the number of failures it stands
 * for, as `failures`, and the newest of them with its stack.
 */
export function createFailureLog(log: Pick<JobLog, 'error'>, message: string): FailureLog {
  let failures = 0
  let newest: unknown
  let timer: NodeJS.Timeout | null = null

  function write(): void {
    log.error({ err: newest, failures }, message)
    failures = 0
  }

  function startInterval(): void {
    timer = setTimeout(() => {
      timer = null
      if (failures === 0) return
      write()
      startInterval()
    }, intervalMs).unref()
  }

  return {
    add(error) {
      failures += 1
      newest = error
      if (timer !== null) return
      write()
      startInterval()
    },
    close() {
      if (timer !== null) clearTimeout(timer)
      timer = null
      if (failures > 0) write()
    },
  }
}
