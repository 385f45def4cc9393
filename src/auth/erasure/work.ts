import type { Logger } from 'pino'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'

const batchSize = 1_000
const statementTimeoutMs = statementTimeoutsMs.erasure
const intervalMs = 30_000
// Longer than an attempt (at most 30 s) and recording its answer, which may repeat what was sent.
const settleSeconds = 120

/** A step: whose rows, and whether it was the last one. */
type Step = { user_id: string | null; tenant_id: string | null; finished: boolean }

/**
 * Erases what deleted users and tenants have left, batch by batch, until nothing is due. Several
 * processes can do it at once.
 * @param settled copies of personal data are left alone for this many seconds after a deletion
 * @param isStopped ends it after the present batch
 * @returns the number of finished erasures
 */
export async function workErasures(
  systemDb: SystemDatabase,
  settled: number,
  isStopped: () => boolean = () => false,
): Promise<number> {
  let finished = 0
  for (let more = true; more && !isStopped(); ) {
    const step = await systemDb.transaction({ statementTimeoutMs }, async (connection) => {
      const { rows } = await connection.query<Step>({
        text: 'SELECT user_id, tenant_id, finished FROM work_erasures($1, $2)',
        values: [settled, batchSize],
      })
      return rows[0]
    })
    if (step?.finished) finished += 1
    more = step !== undefined
  }
  return finished
}

/** Deletes invitations that ended a month ago. */
async function pruneInvitations(systemDb: SystemDatabase): Promise<void> {
  await systemDb.transaction({ statementTimeoutMs }, (connection) =>
    connection.query({ text: 'SELECT prune_invitations($1)', values: [batchSize] }),
  )
}

/** Runs `workErasures` at once and then every 30 s. Errors are logged; the next run tries again. */
export function startErasures(
  systemDb: SystemDatabase,
  logger: Pick<Logger, 'info' | 'error'>,
): { stop(): Promise<void> } {
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
      const erasures = await workErasures(systemDb, settleSeconds, () => stopped)
      if (erasures > 0) logger.info({ erasures }, 'data of deleted users and tenants erased')
      if (!stopped) await pruneInvitations(systemDb)
    } catch (error) {
      logger.error({ err: error }, 'data of deleted users and tenants could not be erased')
    }
  }
}
