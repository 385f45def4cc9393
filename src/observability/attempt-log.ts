import type { JobLog } from '#src/observability/logger.ts'

const windowMs = 1_000

export type AttemptLog = {
  /** Logs an attempt, or counts it if as many of its kind were logged within this second. */
  add(level: 'info' | 'warn', facts: object, succeeded: boolean): void
  /** Logs what was counted and stops. */
  close(): void
}

/**
 * One line per delivery attempt, up to a number of lines a second; one more line has the number of
 * those left out. Successes and failures have a number each, so that many successes hide no failure.
 * @param perSecond lines for successes, and as many for failures (OUTBOUND_LOG_PER_SECOND)
 */
export function createAttemptLog(
  log: Pick<JobLog, 'info' | 'warn'>,
  perSecond: number,
): AttemptLog {
  let seen = { succeeded: 0, failed: 0 }
  let timer: NodeJS.Timeout | null = null

  function endWindow(): void {
    const omitted = {
      succeeded: Math.max(0, seen.succeeded - perSecond),
      failed: Math.max(0, seen.failed - perSecond),
    }
    timer = null
    seen = { succeeded: 0, failed: 0 }
    if (omitted.succeeded + omitted.failed > 0) {
      log.info({ ...omitted, perSecond }, 'delivery attempts not logged one by one')
    }
  }

  return {
    add(level, facts, succeeded) {
      timer ??= setTimeout(endWindow, windowMs).unref()
      const kind = succeeded ? 'succeeded' : 'failed'
      seen[kind] += 1
      if (seen[kind] <= perSecond) log[level](facts, `delivery attempt ${kind}`)
    },
    close() {
      if (timer === null) return
      clearTimeout(timer)
      endWindow()
    },
  }
}
