import type { PgBoss } from 'pg-boss'
import type { SystemDatabase } from '#src/db/system-database.ts'
import type { JobLog } from '#src/observability/logger.ts'
import type { DueJobs } from '#src/queue/due-jobs.ts'
import { workPeriodically } from '#src/queue/periodic.ts'
import { runLedger } from './ledger.ts'

const everySeconds = 300

/**
 * Seals and checks the ledger every five minutes, in one worker at a time. The log keeps the hash of
 * the newest row, so that a ledger that was rewritten as a whole differs from the log.
 */
export async function workLedger(deps: {
  queue: PgBoss
  due: DueJobs
  systemDb: SystemDatabase
  logger: JobLog
}): Promise<void> {
  const { systemDb, logger } = deps
  await workPeriodically(deps, 'ledger', async () => {
    const { findings, head, rows } = await runLedger(systemDb)
    const facts = { unaccounted: findings.length, head, rows }
    if (findings.length === 0) logger.info(facts, 'ledger checked')
    else
      logger.error({ ...facts, first: findings[0] }, 'the ledger does not account for everything')
    return { data: {}, seconds: everySeconds }
  })
}
