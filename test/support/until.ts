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

/** Resolves once that many backends of this database wait for a lock. */
export async function untilBlocked(database: Asked, count = 1): Promise<void> {
  await until(
    database,
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
     HAVING count(*) >= ${count}`,
  )
}
