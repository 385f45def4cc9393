import type { SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import type { OutageLog } from '#src/observability/outage-log.ts'
import { type Repeated, repeat } from '#src/runtime/repeat.ts'

/** The number of deleted rows of each kind. */
export type Deleted = {
  sessions: number
  attempts: number
  tokens: number
  keys: number
  logouts: number
  entries: number
}

type Limits = { idleSeconds: number; auditDays: number }

const batchSize = 1_000
const statementTimeoutMs = statementTimeoutsMs.cleanup
// Expired tokens stay visible for a while, so that their owner can see why they stopped working.
const expiredTokenDays = 30

/**
 * Deletes one batch of expired sessions, pending sign-ins, API tokens, idempotency keys, logout tokens
 * and audit entries. It only frees space: every look-up checks the expiry itself.
 * @returns null if another worker holds the lock
 */
export async function deleteExpired(
  systemDb: SystemDatabase,
  { idleSeconds, auditDays }: Limits,
): Promise<Deleted | null> {
  return systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const [dead] = await connection.sql<Pick<Deleted, 'sessions' | 'attempts' | 'tokens'>>`
      SELECT sessions, attempts, tokens FROM prune_dead(${idleSeconds}, ${expiredTokenDays},
        ${batchSize})`
    if (dead === undefined) return null
    const [once] = await connection.sql<Pick<Deleted, 'keys'>>`
      SELECT prune_idempotency_keys(${batchSize}) AS keys`
    const [records] = await connection.sql<Pick<Deleted, 'logouts' | 'entries'>>`
      SELECT logouts, entries FROM prune_records(${auditDays}, ${batchSize})`
    const { logouts = 0, entries = 0 } = records ?? {}
    return { ...dead, keys: once?.keys ?? 0, logouts, entries }
  })
}

/** True if the batch was full, so that there may be more rows. */
export function isFullBatch(deleted: Deleted): boolean {
  return Object.values(deleted).some((count) => count >= batchSize)
}

const intervalMs = 300_000

/**
 * Runs the cleanup immediately and then every five minutes, repeating it while batches are full. Errors
 * are logged; the next run tries again.
 * @param follow runs after each cleanup
 */
export function startCleanup(
  systemDb: SystemDatabase,
  limits: Limits,
  logger: Pick<OutageLog, 'debug' | 'warn'>,
  follow: () => Promise<unknown> = async () => {},
): Repeated {
  return repeat(cleanUp, {
    everyMs: intervalMs,
    atOnce: true,
    onError: (error) => logger.warn({ err: error }, 'cleanup of expired rows failed'),
  })

  async function cleanUp(stopping: AbortSignal): Promise<'more' | 'done'> {
    const deleted = await deleteExpired(systemDb, limits)
    if (deleted !== null) logger.debug(deleted, 'expired rows deleted')
    if (deleted !== null && isFullBatch(deleted)) return 'more'
    if (!stopping.aborted) await follow()
    return 'done'
  }
}
