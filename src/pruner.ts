import type { Logger } from 'pino'
import { isFullBatch, pruneDead } from '#src/auth/sessions/cleanup.ts'
import type { IdentityPlane } from '#src/db/system-database.ts'

const intervalMs = 60_000

export type Pruner = { stop(): Promise<void> }

/**
 * Clears away what is dead: at once, then every minute; batch after batch while they are full. A
 * failure is logged and made up for the next time.
 */
export function startPruner(
  plane: IdentityPlane,
  limits: { idleSeconds: number },
  logger: Pick<Logger, 'debug' | 'warn'>,
): Pruner {
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
      for (let more = true; more && !stopped; ) {
        const pruned = await pruneDead(plane, limits)
        more = pruned !== null && isFullBatch(pruned)
        if (pruned !== null) logger.debug(pruned, 'dead sessions, attempts and tokens removed')
      }
    } catch (error) {
      logger.warn({ err: error }, 'dead sessions, attempts and tokens not removed')
    }
  }
}
