import { setTimeout as wait } from 'node:timers/promises'
import { isDatabaseUnavailable } from '#src/http/problems.ts'

const firstWaitMs = 50
const longestWaitMs = 2_000
const giveUpMs = 20_000 // the job's own time ends after that, and the attempt is made again

/**
 * Runs `write` until the database takes it: what is known after an attempt is known only here.
 * @throws what the last try threw, once it is too late or `abandoned`
 */
export async function persist(write: () => Promise<void>, abandoned: AbortSignal): Promise<void> {
  const end = performance.now() + giveUpMs
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    abandoned.throwIfAborted()
    try {
      return await write()
    } catch (error) {
      if (!isDatabaseUnavailable(error) || performance.now() + waitMs > end) throw error
      await wait(waitMs, undefined, { signal: abandoned })
    }
  }
}
