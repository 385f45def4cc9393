import { setTimeout as wait } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import { createGroupCommit, type GroupCommit } from '#src/db/connections/group-commit.ts'
import type { Database } from '#src/db/database.ts'
import { isDatabaseUnavailable } from '#src/db/errors.ts'
import type { JobLog } from '#src/observability/logger.ts'
import { JobGone } from '#src/queue/enter-jobs.ts'
import type { Clock } from '#src/runtime/clock.ts'
import type { Limit } from '#src/runtime/limit.ts'
import { type Ended, recordOutcomes } from './record.ts'

export type RecorderDeps = { db: Database; queue: PgBoss; clock: Clock; logger: JobLog }

/** Records the end of an attempt. */
export type Recorder = {
  /**
   * Repeats while the database is unavailable, however long: the result of an attempt exists only
   * here. Once another worker has the turn, there is nothing left to write.
   * @throws the last error once `abandoned`
   */
  record(ended: Ended, abandoned: AbortSignal): Promise<void>
}

/** One group commit per tenant, because a transaction has the scope of one tenant. */
export function createRecorder({ db, queue, clock, logger }: RecorderDeps, limit: Limit): Recorder {
  const groups = new Map<string, GroupCommit<Ended, void>>()

  function openGroup(tenantId: string): GroupCommit<Ended, void> {
    const group = createGroupCommit<Ended, void>({
      async commit(entries) {
        await recordAll(entries.map(({ item }) => item))
        for (const { resolve } of entries) resolve()
      },
      onIdle: () => groups.delete(tenantId),
    })
    groups.set(tenantId, group)
    return group
  }

  /**
   * Records nothing if none of the turns is in progress any more: a commit whose answer was lost has
   * recorded them, or another worker repeats the attempts.
   */
  async function recordAll(ended: readonly Ended[]): Promise<void> {
    try {
      await limit(() => recordOutcomes(db, queue, ended, clock.now()))
    } catch (error) {
      if (!(error instanceof JobGone)) throw error
      logger.warn({ attempts: ended.length }, 'turn no longer ours when attempts were recorded')
    }
  }

  return {
    async record(ended, abandoned) {
      for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, maxWaitMs)) {
        abandoned.throwIfAborted()
        try {
          const group = groups.get(ended.tenantId) ?? openGroup(ended.tenantId)
          return await group.add(ended)
        } catch (error) {
          if (!isDatabaseUnavailable(error)) throw error
          await wait(waitMs, undefined, { signal: abandoned })
        }
      }
    },
  }
}

const firstWaitMs = 50
const maxWaitMs = 2_000
