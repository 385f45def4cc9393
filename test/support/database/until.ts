import { setTimeout as pause } from 'node:timers/promises'
import type { TestDatabase } from './database.ts'

type Asked = Pick<TestDatabase, 'admin'>

const pauseMs = 5 // leaves CPU time to the work that is awaited

/** A third of what a whole file may take, at most: long enough for a busy machine, and the test fails by itself. */
export const withinMs = Math.min(300_000, (Number(process.env.TAP_TIMEOUT ?? 900) * 1_000) / 3)
const blockedWithinMs = 30_000

/** Repeats the query until it returns a row. @throws when it returns none for too long */
export async function until({ admin }: Asked, sql: string): Promise<void> {
  await repeat(async () => (await admin.query(sql)).rowCount !== 0, withinMs, `No row: ${sql}`)
}

/** Repeats the check until it holds. @throws when it does not hold for too long */
export async function untilTrue(holds: () => boolean | Promise<boolean>): Promise<void> {
  await repeat(holds, withinMs, `It never held: ${holds}`)
}

/**
 * Repeats a check for something that waits for a lock until it holds.
 * @throws after half a minute: then nothing holds the lock, and the test need not wait longer
 */
export async function untilWaiting(holds: () => Promise<boolean>): Promise<void> {
  await repeat(holds, blockedWithinMs, 'Nothing waits for a lock.')
}

async function repeat(
  holds: () => boolean | Promise<boolean>,
  limitMs: number,
  otherwise: string,
): Promise<void> {
  const end = performance.now() + limitMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(otherwise)
    await pause(pauseMs)
  }
}

/**
 * Resolves once that many backends of this database, on all servers of a cluster, wait for a lock
 * that the test itself holds or that another of them waits for. What waits for a moment for
 * something else, as a worker does while it starts, is not counted.
 */
export async function untilBlocked(
  { admin, nodes = [] }: Pick<TestDatabase, 'admin' | 'nodes'>,
  count = 1,
): Promise<void> {
  const blocked = `WITH RECURSIVE blocked AS (
      SELECT pid, unnest(pg_blocking_pids(pid)) AS by FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'
      UNION SELECT blocked.pid, further
      FROM blocked, unnest(pg_blocking_pids(blocked.by)) AS further)
    SELECT count(DISTINCT blocked.pid)::int AS count FROM blocked
    JOIN pg_stat_activity AS holder ON holder.pid = blocked.by
    WHERE holder.state LIKE 'idle in transaction%'`
  await untilWaiting(async () => {
    const counts = await Promise.all(
      [admin, ...nodes].map(async (pool) => (await pool.query(blocked)).rows[0].count),
    )
    return counts.reduce((sum, one) => sum + one) >= count
  })
}
