import { list } from '#src/config/parse.ts'

export type OutboundSetup = {
  /** The waits before attempts 1, 2, …, in seconds. */
  retrySeconds: readonly number[]
  timeoutMs: number
  /** The profile of a new endpoint that names none. */
  signature: 'spec' | 'standard' | 'both'
  /** Exact `host:port` pairs that the rules for addresses and schemes do not hold for. */
  allow: readonly string[]
  retentionDays: number
}

const maxAttempts = 20
const maxWaitSeconds = 604_800

export function readRetrySeconds(value: string, faults: string[]): readonly number[] {
  const waits = list(value)
  const valid = waits.every((wait) => /^\d{1,6}$/.test(wait) && Number(wait) <= maxWaitSeconds)
  if (!valid || waits.length === 0 || waits.length > maxAttempts) {
    faults.push(
      `OUTBOUND_RETRY_SECONDS: must be 1 to ${maxAttempts} whole numbers of seconds, a week at most each.`,
    )
  }
  return waits.map(Number)
}

export function readAllowedHosts(value: string, faults: string[]): readonly string[] {
  const pairs = list(value)
  for (const pair of pairs) {
    const [, port] = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\]):([1-9]\d{0,4})$/.exec(pair) ?? []
    if (port === undefined || Number(port) > 65_535) {
      faults.push(`OUTBOUND_ALLOW: “${pair}” is no host:port pair in lower case.`)
    }
  }
  return pairs
}
