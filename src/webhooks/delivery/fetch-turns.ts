import type { Job, PgBoss } from 'pg-boss'
import { lockStatement } from '#src/db/advisory-lock.ts'
import type { Database } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { type OneStatement, orOnCluster } from '#src/db/sql.ts'
import { enterLoneTurn, notingLoneTurn } from '#src/queue/job-table.ts'
import type { EndpointTurnJob } from '#src/queue/queue.ts'
import { endpointTurnQueue } from '#src/webhooks/schedule/due-attempts.ts'
import { type DueAttempt, dueOfLoneTurn, loneRoom, readLoneTurn } from './claim.ts'

export type TurnJob = Job<EndpointTurnJob> & {
  /** All that was due when the turn was fetched, oldest first. Undefined if that is not known. */
  firsts?: readonly DueAttempt[] | undefined
}

/**
 * Takes jobs of endpoints of which no other turn is in progress, in any process. The lock makes that certain:
 * of two fetches at once, neither would see what the other takes, and an endpoint can have several jobs. Lock and
 * fetch are one packet, so no process holds the lock while it waits for the network. If one endpoint alone
 * gets a turn, the packet also reads what is due there: a lone delivery waits for one round trip.
 * @param atMost jobs; perhaps fewer, so that there are few different statements
 */
export async function fetchTurns(
  queue: PgBoss,
  db: Pick<Database, 'write'>,
  atMost: number,
  now: Date,
): Promise<TurnJob[]> {
  let due: object[] = []
  const jobs = await queue.fetch<EndpointTurnJob>(endpointTurnQueue, {
    batchSize: 2 ** Math.floor(Math.log2(atMost)),
    groupConcurrency: 1,
    db: {
      async executeSql(text: string, values: readonly unknown[] = []) {
        const fetched = await db.write(alone, fetching({ text, values }, now))
        due = fetched.due
        return fetched
      },
    },
  })
  const [first] = jobs
  if (first === undefined || due.length === 0 || due.length === loneRoom) return jobs
  return [{ ...first, firsts: readLoneTurn(due, first.data) }]
}

/** The jobs, and the rows of what is due to a lone one. On a cluster these are on the node of a tenant. */
function fetching(
  { text, values }: { text: string; values: readonly unknown[] },
  now: Date,
): OneStatement<undefined, { rows: object[]; due: object[] }> {
  return {
    statement: { text: notingLoneTurn(text), values },
    further: [orOnCluster(enterLoneTurn, none), orOnCluster(dueOfLoneTurn(now), none)],
    read: (rows, _facts, [, due = []] = []) => ({ rows, due }),
  }
}

const none = () => Prisma.sql`SELECT WHERE false`

const alone: Entry<undefined> & { readonly decidesInDatabase: true } = {
  decidesInDatabase: true,
  statement: () => lockStatement('turn-fetch'),
  admit: () => undefined,
}
