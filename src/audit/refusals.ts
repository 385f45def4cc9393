import type { Logger } from 'pino'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { repeat } from '#src/runtime/repeat.ts'
import { type AuditEntry, type ClientInfo, recordAudit } from './audit.ts'

/**
 * Audit entries of requests that did not succeed. An entry that names a user is written at once. One
 * of an unauthenticated request is counted, so that strangers cannot fill the audit log.
 */
export type Refusals = {
  /** @throws if the database is unavailable and the entry is one that is written at once */
  record(entry: AuditEntry, clientInfo: ClientInfo): Promise<void>
  /** Writes the counts of the windows that have ended. Errors are logged, and the counts kept. */
  flush(): Promise<void>
  /** Writes all counts and stops. */
  close(): Promise<void>
}

type Limits = {
  /** Between two rows of one key. */
  windowMs: number
  /** Kinds of refusals that are counted apart. Each takes about 300 bytes here. */
  maxKinds: number
  nowMs: () => number
}

const defaults: Limits = { windowMs: 60_000, maxKinds: 100, nowMs: () => performance.now() }

/** What requests that are counted together have in common. */
type Kind = Pick<AuditEntry, 'action' | 'outcome' | 'reason' | 'provider' | 'providerError'> & {
  network: string | null
}
type Count = { kind: Kind; since: number; occurrences: number }

/**
 * Counts refusals by action, outcome, reason, provider, the provider's error and network, per
 * process. The first is written at once; those that follow become one row when a minute has passed
 * since the row before. Beyond `maxKinds` new kinds have neither network nor error, which senders can
 * choose, so the number of rows per minute is bounded.
 */
export function createRefusals(
  systemDb: SystemDatabase,
  log: Pick<Logger, 'warn'>,
  limits: Partial<Limits> = {},
): Refusals {
  const { windowMs, maxKinds, nowMs } = { ...defaults, ...limits }
  const counts = new Map<string, Count>()
  const flushes = repeat(flush, { everyMs: windowMs })

  async function record(entry: AuditEntry, clientInfo: ClientInfo): Promise<void> {
    if (entry.userId != null) return recordAudit(systemDb, entry, clientInfo)
    const kind = kindOf(entry, clientInfo)
    if (countAgain(kind)) return
    const isFull = counts.size >= maxKinds
    const counted = isFull ? { ...kind, network: null, providerError: null } : kind
    if (isFull && countAgain(counted)) return
    const key = JSON.stringify(counted)
    counts.set(key, { kind: counted, since: nowMs(), occurrences: 0 })
    await write(counted, 1, clientInfo.userAgent).catch((error) => {
      counts.delete(key)
      throw error
    })
  }

  /** @returns false if no refusal of this kind was written within the minute */
  function countAgain(kind: Kind): boolean {
    const known = counts.get(JSON.stringify(kind))
    if (known === undefined) return false
    known.occurrences += 1
    return true
  }

  async function write(
    { network, ...entry }: Kind,
    occurrences: number,
    userAgent: string | null,
  ): Promise<void> {
    await recordAudit(systemDb, { ...entry, occurrences }, { ip: network, userAgent })
  }

  async function flush(): Promise<void> {
    await writeCounts([...counts].filter(([, { since }]) => nowMs() - since >= windowMs))
  }

  async function writeCounts(ended: [key: string, count: Count][]): Promise<void> {
    for (const [key, count] of ended) {
      const { kind, occurrences } = count
      if (occurrences === 0) {
        counts.delete(key)
        continue
      }
      Object.assign(count, { occurrences: 0, since: nowMs() })
      try {
        await write(kind, occurrences, null)
      } catch (error) {
        count.occurrences += occurrences
        log.warn({ err: error }, 'counted refusals could not be written to the audit log')
        return
      }
    }
  }

  return {
    record,
    flush,
    async close() {
      await flushes.stop()
      await writeCounts([...counts])
    },
  }
}

/** The members are in one order, so that equal kinds have equal JSON. */
function kindOf(
  { action, outcome, reason, provider = null, providerError = null }: AuditEntry,
  { ip: network }: ClientInfo,
): Kind {
  return { action, outcome, reason, provider, providerError, network }
}
