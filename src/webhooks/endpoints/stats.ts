import type { TenantScope, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'

/** How the attempts of the last 24 hours at an endpoint went. */
export type EndpointStats = Tally & {
  /** Hours in which attempts were made, oldest first; 23 is the one that ends now. */
  hours: readonly (Tally & { hour: number })[]
}

type Tally = { attempts: number; succeeded: number; medianMs: number }

type Row = { endpoint_id: string; hour: number | null; succeeded: number } & {
  attempts: number
  median_ms: number
}

const dayMs = 86_400_000

/** The newest deliveries of an endpoint that are looked at: a busy one has any number a day. */
export const sampledDeliveries = 500

/**
 * How the endpoints of the tenant have done lately, by id; those nothing was sent to are left out,
 * and so are attempts of the test button. Counted are the attempts of the newest deliveries that
 * were made within the last 24 hours, which the index on (tenant_id, endpoint_id, created_at) finds
 * for each endpoint and the key of the attempts for each delivery.
 * @param endpointId one of them alone
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
  const rows = await tx.$queryRaw<Row[]>`
    SELECT e.id AS endpoint_id, made.hour, count(*)::int AS attempts,
      count(*) FILTER (WHERE made.succeeded)::int AS succeeded,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY made.duration_ms) AS median_ms
    FROM webhook_endpoints e
    CROSS JOIN LATERAL (
      SELECT d.id FROM deliveries d
      WHERE d.tenant_id = ${tenantId}::uuid AND d.endpoint_id = e.id
        AND d.created_at >= ${from}::timestamptz AND d.event_type <> 'endpoint.test'
      ORDER BY d.created_at DESC LIMIT ${sampledDeliveries}
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
  return gather(rows)
}

/** The row without an hour is that of the whole day. */
function gather(rows: readonly Row[]): ReadonlyMap<string, EndpointStats> {
  const totals = rows.filter(({ hour }) => hour === null)
  return new Map(
    totals.map((total) => {
      const own = rows.filter(({ endpoint_id }) => endpoint_id === total.endpoint_id)
      const hours = own.flatMap((row) =>
        row.hour === null ? [] : [{ hour: row.hour, ...tallyOf(row) }],
      )
      return [total.endpoint_id, { ...tallyOf(total), hours }]
    }),
  )
}

function tallyOf({ attempts, succeeded, median_ms: medianMs }: Row): Tally {
  return { attempts, succeeded, medianMs }
}
