import { setTimeout as wait } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import { sendRevocations } from '#src/auth/provider-tokens/retire.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import type { IdentityMetrics } from '#src/observability/metrics.ts'
import type { OutageLog } from '#src/observability/outage-log.ts'
import { type Repeated, repeat } from '#src/runtime/repeat.ts'

const batchSize = 1_000
// Batches of one erasure before another one has its turn.
const batchesOfTurn = 10
const statementTimeoutMs = statementTimeoutsMs.erasure
const intervalMs = 30_000
// Longer than an attempt (at most 30 s) and recording its answer, which may repeat what was sent.
const settleSeconds = 120
// Shorter than the interval, so that every run tries each erasure once.
const restSeconds = 20
// Until a command looks again whether a worker has finished its batch.
const lockedMs = 100

/**
 * Carries out all erasures at once, for commands. Waits for those that a worker has locked.
 * @param onBatch is called with the number of batches so far, each of at most `batchSize` rows
 */
export async function eraseNow(
  systemDb: SystemDatabase,
  queue: PgBoss,
  onBatch: (batches: number) => void = () => {},
): Promise<void> {
  let batches = 0
  while (await hasOpen(systemDb)) {
    const id = await claim(systemDb, 0, 0)
    if (id === null) {
      await wait(lockedMs)
      continue
    }
    for (let finished = false; !finished; ) {
      finished = await workBatch(systemDb, queue, id)
      batches += 1
      onBatch(batches)
    }
  }
}

async function hasOpen(systemDb: Queryable): Promise<boolean> {
  return (await systemDb.sql`SELECT FROM measure_erasures()`).length > 0
}

/**
 * Erases what deleted users, tenants and endpoints and former members have left, the members of a
 * closed tenant first: at once and then every 30 s, in batches, each in a transaction of its own. Erasures take turns, so
 * a large one does not hold up those of other tenants. Several processes can do it. An erasure that fails is logged,
 * and tried again by the next run.
 */
export function startErasures(
  systemDb: SystemDatabase,
  queue: PgBoss,
  metrics: Pick<IdentityMetrics, 'erasures'>,
  logger: Pick<OutageLog, 'info' | 'error'>,
): Repeated {
  // Erasures that have had a turn and are not finished, in the order of their turns.
  const begun = new Set<string>()

  return repeat(workNext, {
    everyMs: intervalMs,
    atOnce: true,
    onError: (error) => logger.error({ err: error }, 'erasures could not be read'),
  })

  async function workNext(stopping: AbortSignal): Promise<'more' | 'done'> {
    const [next = null] = begun
    const erasureId = (await claim(systemDb, settleSeconds, restSeconds)) ?? next
    if (erasureId === null) return 'done'
    begun.delete(erasureId)
    try {
      let finished = false
      for (let count = 0; !finished && count < batchesOfTurn; count += 1) {
        if (stopping.aborted) return 'done'
        finished = await workBatch(systemDb, queue, erasureId)
      }
      if (!finished) {
        begun.add(erasureId)
        return 'more'
      }
      metrics.erasures.inc({ outcome: 'finished' })
      logger.info({ erasureId }, 'erasure finished')
    } catch (error) {
      metrics.erasures.inc({ outcome: 'failed' })
      logger.error({ erasureId, err: error }, 'erasure failed')
    }
    return 'more'
  }
}

const kinds = ['tenant', 'person', 'events', 'member', 'endpoint']

/** Sets the gauges of what is not erased yet. */
export async function measureErasures(
  systemDb: Queryable,
  metrics: Pick<IdentityMetrics, 'erasuresOpen' | 'erasureAge'>,
): Promise<void> {
  const rows = await systemDb.sql<{ kind: string; open: number; age: number }>`
    SELECT kind, open::int, age FROM measure_erasures()`
  for (const kind of kinds) {
    const row = rows.find((one) => one.kind === kind)
    metrics.erasuresOpen.set({ kind }, row?.open ?? 0)
    metrics.erasureAge.set({ kind }, row?.age ?? 0)
  }
}

/** @returns the id of the erasure that has waited longest; null if none is due */
async function claim(systemDb: Queryable, settle: number, rest: number): Promise<string | null> {
  const [row] = await systemDb.sql<{ id: string | null }>`
    SELECT claim_erasure(${settle}, ${rest}) AS id`
  return row?.id ?? null
}

/** @returns whether nothing of it is left */
async function workBatch(systemDb: SystemDatabase, queue: PgBoss, id: string): Promise<boolean> {
  return systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const [row] = await connection.sql<{ finished: boolean; revocations: string[] }>`
      SELECT finished, revocations FROM work_erasure(${id}, ${batchSize})`
    await sendRevocations(connection, queue, row?.revocations ?? [])
    return row?.finished === true
  })
}
