import type { PgBoss } from 'pg-boss'
import { eventQueue, newEventJob } from '#src/billing/job.ts'
import type { BillingProvider } from '#src/billing/providers/provider.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { transactionOf } from '#src/queue/jobs.ts'
import { addDeliverJobs } from '#src/webhooks/schedule/due-attempts.ts'
import type { Finding } from './ledger.ts'

const statementTimeoutMs = statementTimeoutsMs.ledger

/** What a repair does about a finding: it gives a job, or nothing. */
export type Remedy = 'job' | 'none'

/** How each kind of finding is repaired. */
export function remedyOf({ kind }: Pick<Finding, 'kind'>): Remedy {
  switch (kind) {
    case 'delivery-without-job':
    case 'event-without-job':
      return 'job'
    case 'event-not-recorded':
    case 'event-not-known':
    case 'event-without-delivery':
      return 'none'
  }
}

/** Numbers of findings that were repaired. */
export type Repaired = { deliveries: number; events: number }

/** Gives waiting deliveries and events without a job their jobs. What was lost stays lost. */
export async function repairLedger(
  systemDb: SystemDatabase,
  queue: PgBoss,
  findings: readonly Finding[],
  provider: BillingProvider,
): Promise<Repaired> {
  return systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const deliveries = await addDeliverJobs(connection, findings.flatMap(toLostAttempt))
    const lost = findings.flatMap(({ kind, eventId }) =>
      kind === 'event-without-job' && eventId !== null ? [eventId] : [],
    )
    const events = await addEventJobs(connection, queue, provider, lost)
    return { deliveries, events }
  })
}

function toLostAttempt({ kind, tenantId, deliveryId, endpointId, series, number }: Finding) {
  const isLost = kind === 'delivery-without-job'
  if (!isLost || tenantId === null || deliveryId === null || endpointId === null) return []
  return [{ tenantId, deliveryId, endpointId, series: series ?? 0, number: number ?? 1 }]
}

/** Adds a job for each event, as when it was recorded. */
async function addEventJobs(
  connection: Queryable,
  queue: PgBoss,
  provider: BillingProvider,
  eventIds: readonly string[],
): Promise<number> {
  const rows = await connection.sql<{ id: string; body: Uint8Array | null }>`
    SELECT event_id AS id, body FROM received_events WHERE event_id = ANY (${eventIds})`
  const jobs = rows.map(({ id, body }) =>
    newEventJob(id, body && provider.parse({ 'webhook-id': id }, body)),
  )
  if (jobs.length > 0) await queue.insert(eventQueue, jobs, { db: transactionOf(connection) })
  return jobs.length
}
