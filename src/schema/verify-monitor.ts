import { Problem } from '#src/http/problems.ts'
import type { Finding } from './finding.ts'

type Log = Record<'info' | 'error' | 'debug', (facts: object, message: string) => void>

/** Calls `run` again and again until it is stopped. */
export type Repeat = (run: () => Promise<void>) => { stop(): void }

export type VerifyMonitor = {
  /** False while the last check found the lock broken. */
  holds(): boolean
  /** @throws Refusal `unavailable` while `holds()` is false */
  requireVerified(): void
  /** Resolves when no proof is under way and none will be. */
  stop(): Promise<void>
}

const intervalSeconds = 60

/** Every minute; a process that has nothing else to do may end. */
const everyMinute: Repeat = (run) => {
  const timer = setInterval(run, intervalSeconds * 1_000)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

/**
 * Proves the tenant lock again while the program runs; the first proof has passed. Logged is only
 * what changes. A database that cannot be asked changes nothing: whoever needs it is refused anyway.
 */
export function startVerifyMonitor(
  prove: () => Promise<Finding[]>,
  log: Log,
  repeat: Repeat = everyMinute,
): VerifyMonitor {
  let found: Finding | null = null
  let running: Promise<void> | null = null
  const repeated = repeat(() => {
    running ??= proveAgain().finally(() => {
      running = null
    })
    return running
  })

  async function proveAgain(): Promise<void> {
    try {
      const [finding = null] = await prove()
      if (finding !== null && finding.problem !== found?.problem) {
        log.error(finding, 'the tenant lock is broken: what is under it is not served')
      }
      if (finding === null && found !== null) log.info({}, 'the tenant lock holds again')
      found = finding
    } catch (error) {
      log.debug({ err: error }, 'the tenant lock could not be proven')
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

/** Where nothing is watched, the lock counts as proven. */
export const alwaysVerified: VerifyMonitor = {
  holds: () => true,
  requireVerified() {},
  async stop() {},
}
