import { Problem } from '#src/http/problems.ts'
import { type Repeat, repeat as repeatOnTimer } from '#src/runtime/repeat.ts'
import type { Finding } from '../finding.ts'

type Log = Record<'info' | 'error' | 'debug', (facts: object, message: string) => void>

export type VerifyMonitor = {
  /** False while the last check found row-level security broken. */
  holds(): boolean
  /** @throws Problem `unavailable` while `holds()` is false */
  requireVerified(): void
  /** Resolves when no check is running and none will start. */
  stop(): Promise<void>
}

const intervalSeconds = 60

/**
 * Repeats the verification while the program runs; the check at start has passed. Only changes are
 * logged. An unreachable database changes nothing: requests that need it fail anyway.
 * @param verify reads the catalogue and writes nothing
 */
export function startVerifyMonitor(
  verify: () => Promise<Finding[]>,
  log: Log,
  repeat: Repeat = repeatOnTimer,
): VerifyMonitor {
  let found: Finding | null = null
  const { stop } = repeat(verifyAgain, {
    everyMs: intervalSeconds * 1_000,
    onError: (error) => log.debug({ err: error }, 'row-level security could not be verified'),
  })

  async function verifyAgain(): Promise<void> {
    const [finding = null] = await verify()
    if (finding !== null && finding.problem !== found?.problem) {
      log.error(finding, 'row-level security is broken: tenant and owned rows are not served')
    }
    if (finding === null && found !== null) log.info({}, 'row-level security holds again')
    found = finding
  }

  return {
    holds: () => found === null,
    requireVerified() {
      if (found === null) return
      throw new Problem('unavailable', {
        retryAfterSeconds: intervalSeconds,
        reason: 'row-level-security',
      })
    },
    stop,
  }
}

/** For programs without a monitor. */
export const alwaysVerified: VerifyMonitor = {
  holds: () => true,
  requireVerified() {},
  async stop() {},
}
