import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'

/** The attempts at an endpoint in the last 24 hours. */
export type EndpointStats = Tally & {
  /** There may be more deliveries in this time: only the newest `sampledDeliveries` are counted. */
  isSampled: boolean
  /** Hours with attempts, oldest first; 23 is the hour that ends now. */
  hours: readonly (Tally & { hour: number })[]
}

type Tally = {
  attempts: number
  succeeded: number
  medianMs: number
  /** 95 of 100 attempts took at most so long. */
  p95Ms: number
}

/** `hour` is null in the row of the whole day. */
type Row = Tally & { endpointId: string; hour: number | null; deliveries: number }

const dayMs = 86_400_000

/** Only the newest deliveries of an endpoint are counted, because a busy one has many a day. */
export const sampledDeliveries = 500

/**
 * The statistics of the tenant's endpoints, by id, without test events. Endpoints without attempts
 * are left out. Counts the attempts of the newest deliveries of the last 24 hours: the index on
 * (tenant_id, endpoint_id, created_at) finds the deliveries, the primary key their attempts.
 * @param endpointId only this endpoint
 */
export async function measureEndpoints(
  tx: Tx,
  { tenantId }: TenantScope,
  now: Date,
  endpointId?: string,
): Promise<ReadonlyMap<string, EndpointStats>> {
  const from = new Date(now.getTime() - dayMs)
  const chosen =
    endpointId === undefined ? Prisma.sql`true` : Prisma.sql`e.id = ${endpointId}::uuid`
  const rows = await tx.sql<Row>`
    SELECT e.id AS "endpointId", made.hour, count(*)::int AS attempts,
      count(*) FILTER (WHERE made.succeeded)::int AS succeeded,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY made.duration_ms) AS "medianMs",
      percentile_disc(0.95) WITHIN GROUP (ORDER BY made.duration_ms)::float8 AS "p95Ms",
      max(d.deliveries)::int AS deliveries
    FROM webhook_endpoints e
    CROSS JOIN LATERAL (
      SELECT newest.id, count(*) OVER () AS deliveries FROM (
        SELECT d.id FROM deliveries d
        WHERE d.tenant_id = ${tenantId}::uuid AND d.endpoint_id = e.id
          AND d.created_at >= ${from}::timestamptz AND d.event_type <> 'endpoint.test' AND NOT d.example
        ORDER BY d.created_at DESC LIMIT ${sampledDeliveries}
      ) newest
    ) d
    CROSS JOIN LATERAL (
      SELECT LEAST(23, floor(extract(epoch FROM a.started_at - ${from}::timestamptz) / 3600))::int AS hour,
        a.error IS NULL AND a.status_code BETWEEN 200 AND 299 AS succeeded, a.duration_ms
      FROM delivery_attempts a
      WHERE a.tenant_id = ${tenantId}::uuid AND a.delivery_id = d.id
        AND a.started_at >= ${from}::timestamptz
    ) made
    WHERE e.tenant_id = ${tenantId}::uuid AND ${chosen}
    GROUP BY GROUPING SETS ((e.id), (e.id, made.hour))
    ORDER BY e.id, made.hour`
  return groupByEndpoint(rows)
}

function groupByEndpoint(rows: readonly Row[]): ReadonlyMap<string, EndpointStats> {
  const totals = rows.filter(({ hour }) => hour === null)
  return new Map(
    totals.map((total) => {
      const own = rows.filter(({ endpointId }) => endpointId === total.endpointId)
      const hours = own.flatMap((row) =>
        row.hour === null ? [] : [{ hour: row.hour, ...tallyOf(row) }],
      )
      const isSampled = total.deliveries === sampledDeliveries
      return [total.endpointId, { ...tallyOf(total), isSampled, hours }]
    }),
  )
}

function tallyOf({ attempts, succeeded, medianMs, p95Ms }: Row): Tally {
  return { attempts, succeeded, medianMs, p95Ms }
}
