import type { PgBoss } from 'pg-boss'
import type { Environment } from '#src/config/parse.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { openQueue } from '#src/queue/queue.ts'
import { openCommandDatabase, readUrl } from './databases.ts'
import { withEnvironment } from './environment.ts'

type Means = { systemDb: SystemDatabase; queue: PgBoss }

/** As `withQueue`, as the application's role. */
export async function withApplicationQueue(
  env: Environment,
  work: (means: Means) => Promise<void>,
): Promise<void> {
  await withEnvironment(env, (whole) => withQueue(readUrl(whole, 'DATABASE_URL'), work))
}

/**
 * Runs `work` with one connection and with the queue, to which it may add jobs.
 * @param check throws if the role of the connection is the wrong one
 */
export async function withQueue(
  url: string,
  work: (means: Means) => Promise<void>,
  check?: (systemDb: SystemDatabase) => Promise<void>,
): Promise<void> {
  const systemDb = openCommandDatabase(url)
  const queue = openQueue(url, 'web', () => {})
  try {
    await check?.(systemDb)
    await queue.start()
    await work({ systemDb, queue })
  } finally {
    await queue.stop({ graceful: false })
    await systemDb.close()
  }
}
