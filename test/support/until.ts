import { setTimeout as pause } from 'node:timers/promises'
import type { TestDatabase } from './helper.ts'

type Asked = Pick<TestDatabase, 'admin'>

const pauseMs = 5 // leaves the processor to whoever is waited for

/** Asks until there is a row; the time limit of the test bounds it. */
export async function until({ admin }: Asked, sql: string): Promise<void> {
  while ((await admin.query(sql)).rowCount === 0) await pause(pauseMs)
}

/** Resolves once so many backends of this database wait for a lock. */
export async function untilBlocked(database: Asked, count = 1): Promise<void> {
  await until(
    database,
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
     HAVING count(*) >= ${count}`,
  )
}
