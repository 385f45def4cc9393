import { Problem } from '#src/http/problems.ts'
import type { Finding } from './finding.ts'

type Log = Record<'info' | 'error' | 'debug', (facts: object, message: string) => void>

/** Calls `run` repeatedly until stopped. */
export type Repeat = (run: () => Promise<void>) => { stop(): void }

export type VerifyMonitor = {
  /** False if the last verification had a finding. */
  holds(): boolean
  /** @throws Problem `unavailable` while `holds()` is false */
  requireVerified(): void
  /** Stops; resolves when no verification is running. */
  stop(): Promise<void>
}

const intervalSeconds = 60

/** Every minute, without keeping the process alive. */
const everyMinute: Repeat = (run) => {
  const timer = setInterval(run, intervalSeconds * 1_000)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

/**
 * Repeats the verification of the tenant lock while the program runs; the first one, at start, has
 * passed. Logs changes only. If the database is unavailable, the last result stays.
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
        log.error(finding, 'the tenant lock is broken: requests for tenant data are refused')
      }
      if (finding === null && found !== null) log.info({}, 'the tenant lock holds again')
      found = finding
    } catch (error) {
      log.debug({ err: error }, 'the tenant lock could not be verified')
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

/** For processes that do not verify repeatedly. */
export const alwaysVerified: VerifyMonitor = {
  holds: () => true,
  requireVerified() {},
  async stop() {},
}
