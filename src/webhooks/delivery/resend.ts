import type { TenantScope, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { deliverChannel, insertDeliverJobs } from './job.ts'

/**
 * Sends deliveries of the tenant again, each with a whole schedule of its own; what the schedule
 * before had left to do is left undone. Those to a disabled endpoint stay as they are, and those
 * whose present schedule has made no attempt yet: they are on their way.
 * @returns the ids of those that were begun
 */
export async function startReplay(
  tx: Tx,
  { tenantId }: TenantScope,
  deliveryIds: readonly string[],
  now: Date,
): Promise<readonly string[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    WITH chosen AS (
      SELECT d.id FROM deliveries d
      JOIN webhook_endpoints e ON e.tenant_id = d.tenant_id AND e.id = d.endpoint_id
      WHERE d.tenant_id = ${tenantId}::uuid AND d.id = ANY (${[...deliveryIds]}::uuid[])
        AND e.status <> 'disabled' AND (d.status <> 'pending' OR d.attempts > 0)
      ORDER BY d.id FOR UPDATE OF d
    ), begun AS (
      UPDATE deliveries d
      SET status = 'pending', series = d.series + 1, attempts = 0, next_attempt_at = ${now},
          finished_at = NULL
      FROM chosen WHERE d.tenant_id = ${tenantId}::uuid AND d.id = chosen.id
      RETURNING d.tenant_id, d.id, d.endpoint_id, d.series
    ), queued AS (
      ${insertDeliverJobs(nextSeries)}
    ), woken AS (
      SELECT pg_notify(${deliverChannel}, '') FROM queued LIMIT 1
    )
    SELECT begun.id, (SELECT count(*) FROM woken) FROM begun`
  return rows.map(({ id }) => id)
}

const nextSeries = Prisma.sql`
  SELECT tenant_id, id AS delivery_id, series, 1 AS number, endpoint_id, 0 AS wait_seconds,
    0 AS priority
  FROM begun`
