import type { PgBoss } from 'pg-boss'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { transactionOf } from '#src/queue/jobs.ts'
import { eventQueue, newEventJob } from './job.ts'
import type { BillingProvider } from './providers/provider.ts'

const statementTimeoutMs = statementTimeoutsMs.replay
const pageEvents = 500

/**
 * Gives the events that waited for the link of a customer their jobs, in the order of their arrival.
 * Each page commits by itself, so that an interrupted run goes on where it was. An event whose body
 * has been deleted stays unlinked.
 */
export async function releaseUnlinked(
  systemDb: SystemDatabase,
  queue: PgBoss,
  provider: BillingProvider,
  customer: string,
): Promise<void> {
  for (let released = pageEvents; released === pageEvents; ) {
    released = await systemDb.transaction({ statementTimeoutMs }, async (connection) => {
      const page = await connection.sql<{ id: string; body: Uint8Array }>`
        SELECT event_id AS id, body FROM received_events
        WHERE customer = ${customer} AND status = 'unlinked' AND body IS NOT NULL
        ORDER BY received_at, event_id LIMIT ${pageEvents} FOR UPDATE`
      const jobs = page.map(({ id, body }) =>
        newEventJob(id, provider.parse({ 'webhook-id': id }, body)),
      )
      await connection.sql`
        UPDATE received_events SET status = 'recorded', customer = NULL, outcome = NULL, last_error = NULL
        WHERE event_id = ANY (${page.map(({ id }) => id)})`
      if (jobs.length > 0) await queue.insert(eventQueue, jobs, { db: transactionOf(connection) })
      return page.length
    })
  }
}
