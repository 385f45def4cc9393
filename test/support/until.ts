import { setTimeout as pause } from 'node:timers/promises'
import type { TestDatabase } from './helper.ts'

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
 * Resolves once that many backends of this database wait for a lock.
 * @throws if they do not within half a minute: then nothing is locked that they would wait for
 */
export async function untilBlocked({ admin }: Asked, count = 1): Promise<void> {
  const end = performance.now() + blockedWithinMs
  const waiting = `SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' HAVING count(*) >= ${count}`
  while ((await admin.query(waiting)).rowCount === 0) {
    if (performance.now() > end) throw new Error(`No ${count} of the connections wait for a lock.`)
    await pause(pauseMs)
  }
}
