import type { Job, PgBoss } from 'pg-boss'
import { lockStatement } from '#src/db/advisory-lock.ts'
import type { Database } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { oneStatement } from '#src/db/sql.ts'
import type { EndpointTurnJob } from '#src/queue/queue.ts'
import { endpointTurnQueue } from '#src/webhooks/schedule/due-attempts.ts'

/**
 * Takes jobs of endpoints of which no other turn is in progress, in any process. The lock makes that certain:
 * of two fetches at once, neither would see what the other takes, and an endpoint can have several jobs. Lock and
 * fetch are one packet, so no process holds the lock while it waits for the network.
 * @param atMost jobs; perhaps fewer, so that there are few different statements
 */
export function fetchTurns(
  queue: PgBoss,
  db: Pick<Database, 'write'>,
  atMost: number,
): Promise<Job<EndpointTurnJob>[]> {
  return queue.fetch<EndpointTurnJob>(endpointTurnQueue, {
    batchSize: 2 ** Math.floor(Math.log2(atMost)),
    groupConcurrency: 1,
    db: {
      async executeSql(text: string, values: readonly unknown[] = []) {
        const rows = await db.write(
          alone,
          oneStatement({ text, values }, (rows) => rows),
        )
        return { rows }
      },
    },
  })
}

const alone: Entry<undefined> & { readonly decidesInDatabase: true } = {
  decidesInDatabase: true,
  statement: () => lockStatement('turn-fetch'),
  admit: () => undefined,
}
