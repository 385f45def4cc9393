import type { PgBoss } from 'pg-boss'
import type { SystemDatabase } from '#src/db/system-database.ts'
import type { JobLog } from '#src/observability/logger.ts'
import type { DueJobs } from '#src/queue/due-jobs.ts'
import { workPeriodically } from '#src/queue/periodic.ts'
import { runLedger } from './ledger.ts'

const everySeconds = 3_600

/** Checks every hour, in one worker at a time, whether every event and delivery is accounted for. */
export async function workLedger(deps: {
  queue: PgBoss
  due: DueJobs
  systemDb: SystemDatabase
  logger: JobLog
}): Promise<void> {
  const { systemDb, logger } = deps
  await workPeriodically(deps, 'ledger', async () => {
    const { findings } = await runLedger(systemDb)
    const facts = { unaccounted: findings.length }
    if (findings.length === 0) logger.info(facts, 'ledger checked')
    else logger.error({ ...facts, first: findings[0] }, 'not everything is accounted for')
    return { data: {}, seconds: everySeconds }
  })
}
