import type { PgBoss } from 'pg-boss'
import { eventQueue, newEventJob } from '#src/billing/job.ts'
import type { BillingProvider } from '#src/billing/providers/provider.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { transactionOf } from '#src/queue/jobs.ts'
import { addDeliverJobs } from '#src/webhooks/schedule/due-attempts.ts'
import type { Finding } from './ledger.ts'

const statementTimeoutMs = statementTimeoutsMs.ledger

/** What a repair does about a finding: a job, an entry that accepts the difference, or nothing. */
export type Remedy = 'job' | 'entry' | 'none'

/** How each kind of finding is repaired. */
export function remedyOf({ kind }: Pick<Finding, 'kind'>): Remedy {
  switch (kind) {
    case 'delivery-without-job':
    case 'event-without-job':
      return 'job'
    case 'window-changed':
      return 'entry'
    case 'event-not-recorded':
    case 'event-not-known':
    case 'event-without-delivery':
    case 'row-changed':
      return 'none'
  }
}

/** Numbers of findings that were repaired. */
export type Repaired = { deliveries: number; events: number; windows: number }

/**
 * Gives waiting deliveries and events without a job their jobs. With `accept` the differences of
 * changed windows are added to the ledger as corrections; what was lost stays lost, and readable.
 */
export async function repairLedger(
  systemDb: SystemDatabase,
  queue: PgBoss,
  findings: readonly Finding[],
  { accept, provider }: { accept: boolean; provider: BillingProvider },
): Promise<Repaired> {
  return systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const deliveries = await addDeliverJobs(connection, findings.flatMap(toLostAttempt))
    const lost = findings.flatMap(({ kind, eventId }) =>
      kind === 'event-without-job' && eventId !== null ? [eventId] : [],
    )
    const events = await addEventJobs(connection, queue, provider, lost)
    const windows = accept ? await correct(connection, findings) : 0
    return { deliveries, events, windows }
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

async function correct(connection: Queryable, findings: readonly Finding[]): Promise<number> {
  const changed = findings.filter(({ kind }) => kind === 'window-changed')
  const windows = [...new Set(changed.map(({ window }) => window))]
  for (const window of windows) {
    await connection.sql`SELECT correct_ledger(${window})`
  }
  return windows.length
}
