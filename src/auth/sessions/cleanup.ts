import type { Logger } from 'pino'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'

/** How many rows of each kind were cleared away. */
export type Pruned = { sessions: number; attempts: number; tokens: number }

const batchSize = 1_000
const statementTimeoutMs = statementTimeoutsMs.cleanup
// Its owner can see for a while why a token stopped working.
const expiredTokenDays = 30
/** Any number that nothing else in this database locks: one worker at a time. */
const pruneLock = 7_165_230_419

/**
 * Clears away one batch of sessions, pending sign-ins and tokens that nobody can use any more.
 * They are dead without it: every look-up judges for itself.
 * @returns null when another worker is at it
 */
export async function pruneDead(
  systemDb: SystemDatabase,
  { idleSeconds }: { idleSeconds: number },
): Promise<Pruned | null> {
  return systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const { rows } = await connection.query<{ taken: boolean }>({
      text: 'SELECT pg_try_advisory_xact_lock($1) AS taken',
      values: [pruneLock],
    })
    if (rows[0]?.taken !== true) return null
    return {
      attempts: await remove(
        connection,
        // By time alone: the worker may not read what would name one of them.
        `DELETE FROM sign_in_attempts WHERE expires_at <= (
           SELECT max(expires_at) FROM (
             SELECT expires_at FROM sign_in_attempts WHERE expires_at <= now()
             ORDER BY expires_at LIMIT ${batchSize}) oldest)`,
      ),
      sessions: await remove(
        connection,
        `DELETE FROM sessions WHERE id IN (
           SELECT id FROM sessions
           WHERE expires_at <= now() OR last_seen_at <= now() - make_interval(secs => $1)
           LIMIT ${batchSize})
         AND (expires_at <= now() OR last_seen_at <= now() - make_interval(secs => $1))`,
        [idleSeconds],
      ),
      tokens: await remove(
        connection,
        `DELETE FROM api_tokens WHERE id IN (
           SELECT id FROM api_tokens WHERE expires_at <= now() - make_interval(days => $1)
           LIMIT ${batchSize})`,
        [expiredTokenDays],
      ),
    }
  })
}

async function remove(connection: Queryable, text: string, values: unknown[] = []) {
  return (await connection.query({ text, values })).rowCount ?? 0
}

/** Whether a batch was full, so that there may be more. */
export function isFullBatch(pruned: Pruned): boolean {
  return Object.values(pruned).some((count) => count >= batchSize)
}

const intervalMs = 60_000

export type Pruner = { stop(): Promise<void> }

/**
 * Clears away what is dead: at once, then every minute; batch after batch while they are full. A
 * failure is logged and made up for the next time.
 */
export function startPruner(
  systemDb: SystemDatabase,
  limits: { idleSeconds: number },
  logger: Pick<Logger, 'debug' | 'warn'>,
): Pruner {
  let stopped = false
  let running = run()
  const timer = setInterval(() => {
    running = running.then(run)
  }, intervalMs)
  timer.unref()
  return {
    async stop() {
      stopped = true
      clearInterval(timer)
      await running
    },
  }

  async function run(): Promise<void> {
    try {
      for (let more = true; more && !stopped; ) {
        const pruned = await pruneDead(systemDb, limits)
        more = pruned !== null && isFullBatch(pruned)
        if (pruned !== null) logger.debug(pruned, 'dead sessions, attempts and tokens removed')
      }
    } catch (error) {
      logger.warn({ err: error }, 'dead sessions, attempts and tokens not removed')
    }
  }
}
