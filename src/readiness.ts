import type { PgBoss } from 'pg-boss'
import type { Queryable } from '#src/db/system-database.ts'
import { endsWithin } from '#src/runtime/timeout.ts'
import type { ProofWatch } from '#src/schema/verify-monitor.ts'

/** One part that the process needs, and what throws while it cannot be used. */
export type Look = readonly [part: string, look: () => Promise<unknown>]

// A check of a container waits 3 s for the answer (Dockerfile).
const lookMs = 2_000

/** What a half of the program stands on: the web half sends jobs, the worker takes them. */
export function looksAt(plane: Queryable, queue: PgBoss): Look[] {
  return [
    ['database', () => plane.query({ text: 'SELECT 1' })],
    ['queue', () => requireQueue(queue)],
  ]
}

/** Where the tenant lock is watched: whether its last proof has passed. */
export function looksAtProof(proof: ProofWatch): Look[] {
  return [['tenant lock', async () => proof.requireProof()]]
}

/** The parts that cannot do their work now, each named once; asked for all at once. */
export async function findFailing(looks: readonly Look[]): Promise<string[]> {
  const failing = await Promise.all(
    looks.map(async ([part, look]) => {
      const answered = await endsWithin(lookMs, look()).catch(() => false)
      return answered ? [] : [part]
    }),
  )
  return [...new Set(failing.flat())]
}

/** To send a job and to take one both begin with what the queue knows of itself. */
async function requireQueue(queue: PgBoss): Promise<void> {
  const [found] = await queue.getQueues(['billing-event'])
  if (found === undefined) throw new Error('the queue is missing')
}
