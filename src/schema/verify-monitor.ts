import { Problem } from '#src/http/problems.ts'
import type { Finding } from './finding.ts'

type Log = Record<'info' | 'error' | 'debug', (facts: object, message: string) => void>

/** Calls `run` repeatedly until stopped. */
export type Repeat = (run: () => Promise<void>) => { stop(): void }

export type VerifyMonitor = {
  /** False while the last check found row-level security broken. */
  holds(): boolean
  /** @throws Problem `unavailable` while `holds()` is false */
  requireVerified(): void
  /** Resolves when no check is running and none will start. */
  stop(): Promise<void>
}

const intervalSeconds = 60

/** Every minute. The timer does not keep the process running. */
const everyMinute: Repeat = (run) => {
  const timer = setInterval(run, intervalSeconds * 1_000)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

/**
 * Repeats the verification while the program runs; the check at start has passed. Only changes are
 * logged. An unreachable database changes nothing: requests that need it fail anyway.
 * @param verify reads the catalogue and writes nothing
 */
export function startVerifyMonitor(
  verify: () => Promise<Finding[]>,
  log: Log,
  repeat: Repeat = everyMinute,
): VerifyMonitor {
  let found: Finding | null = null
  let running: Promise<void> | null = null
  const repeated = repeat(() => {
    running ??= verifyAgain().finally(() => {
      running = null
    })
    return running
  })

  async function verifyAgain(): Promise<void> {
    try {
      const [finding = null] = await verify()
      if (finding !== null && finding.problem !== found?.problem) {
        log.error(finding, 'row-level security is broken: tenant and owned rows are not served')
      }
      if (finding === null && found !== null) log.info({}, 'row-level security holds again')
      found = finding
    } catch (error) {
      log.debug({ err: error }, 'row-level security could not be verified')
    }
  }

  return {
    holds: () => found === null,
    requireVerified() {
      if (found !== null) throw new Problem('unavailable', { retryAfterSeconds: intervalSeconds })
    },
    async stop() {
      repeated.stop()
      await running
    },
  }
}

/** For programs without a monitor. */
export const alwaysVerified: VerifyMonitor = {
  holds: () => true,
  requireVerified() {},
  async stop() {},
}
