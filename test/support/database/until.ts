import { setTimeout as pause } from 'node:timers/promises'
import type { TestDatabase } from './database.ts'

type Asked = Pick<TestDatabase, 'admin'>

const pauseMs = 5 // leaves CPU time to the work that is awaited

/** Repeats the query until it returns a row; bounded by the timeout of the test. */
export async function until({ admin }: Asked, sql: string): Promise<void> {
  while ((await admin.query(sql)).rowCount === 0) await pause(pauseMs)
}

/** Repeats the check until it holds; bounded by the timeout of the test. */
export async function untilTrue(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(pauseMs)
}

const blockedWithinMs = 30_000

/**
 * Repeats a check for something that waits for a lock until it holds.
 * @throws after half a minute: then nothing holds the lock, and the test need not wait for its timeout
 */
export async function untilWaiting(holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + blockedWithinMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('Nothing waits for a lock.')
    await pause(pauseMs)
  }
}

/** Resolves once that many backends of this database, on all servers of a cluster, wait for a lock. */
export async function untilBlocked(
  { admin, nodes = [] }: Pick<TestDatabase, 'admin' | 'nodes'>,
  count = 1,
): Promise<void> {
  const blocked = `SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await untilWaiting(async () => {
    const counts = await Promise.all(
      [admin, ...nodes].map(async (pool) => (await pool.query(blocked)).rows[0].count),
    )
    return counts.reduce((sum, one) => sum + one) >= count
  })
}
