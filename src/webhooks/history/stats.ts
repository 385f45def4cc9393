import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'

/** Attempts, and how long they took. */
type Tally = { attempts: number; succeeded: number; medianMs: number }

/** The attempts at an endpoint in the last 24 hours. */
export type EndpointStats = Tally & {
  /** Hours with attempts, oldest first; 23 is the hour that ends now. */
  hours: readonly (Tally & { hour: number })[]
}

/** `hour` is null in the row of the whole day. */
type Row = Tally & { endpointId: string; hour: number | null }

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Only the newest deliveries of an endpoint are counted, because a busy one has many a day. */
export const sampledDeliveries = 500

/**
 * The statistics of the tenant's endpoints, by id, without test events. Endpoints without attempts
 * are left out. Counts the attempts of the newest deliveries of the last 24 hours: the index on
 * (tenant_id, endpoint_id, created_at) finds the deliveries, the primary key their attempts.
 */
export async function measureEndpoints(
  tx: Tx,
  { tenantId }: TenantScope,
  now: Date,
): Promise<ReadonlyMap<string, EndpointStats>> {
  const from = new Date(now.getTime() - dayMs)
  const rows = await tx.sql<Row>`
    SELECT e.id AS "endpointId", made.hour, count(*)::int AS attempts,
      count(*) FILTER (WHERE made.succeeded)::int AS succeeded,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY made.duration_ms) AS "medianMs"
    FROM webhook_endpoints e
    CROSS JOIN LATERAL (
      SELECT d.id FROM deliveries d
      WHERE d.tenant_id = ${tenantId}::uuid AND d.endpoint_id = e.id
        AND d.created_at >= ${from}::timestamptz AND d.event_type <> 'endpoint.test' AND NOT d.example
      ORDER BY d.created_at DESC LIMIT ${sampledDeliveries}
    ) d
    CROSS JOIN LATERAL (
      SELECT LEAST(23, floor(extract(epoch FROM a.started_at - ${from}::timestamptz) / 3600))::int AS hour,
        a.error IS NULL AND a.status_code BETWEEN 200 AND 299 AS succeeded, a.duration_ms
      FROM delivery_attempts a
      WHERE a.tenant_id = ${tenantId}::uuid AND a.delivery_id = d.id
        AND a.started_at >= ${from}::timestamptz
    ) made
    WHERE e.tenant_id = ${tenantId}::uuid
    GROUP BY GROUPING SETS ((e.id), (e.id, made.hour))
    ORDER BY e.id, made.hour`
  const totals = rows.filter(({ hour }) => hour === null)
  return new Map(
    totals.map(({ endpointId, attempts, succeeded, medianMs }) => {
      const own = rows.filter((row) => row.endpointId === endpointId)
      const hours = own.flatMap((row) => (row.hour === null ? [] : [{ ...row, hour: row.hour }]))
      return [endpointId, { attempts, succeeded, medianMs, hours }]
    }),
  )
}

/** The periods that an endpoint's charts can show, each in parts of one length. */
export const periods = {
  day: { parts: 24, partMs: hourMs },
  week: { parts: 28, partMs: 6 * hourMs },
  month: { parts: 30, partMs: dayMs },
} as const
export type Period = keyof typeof periods

/** Deliveries that are counted of each part: those of a busy endpoint are a sample. */
export const sampledOfPart = 100

type PartTally = Tally & {
  /** 95 of 100 attempts took at most this long. */
  p95Ms: number
}

/** The attempts at an endpoint in a period that ends now. */
export type PeriodStats = PartTally & {
  period: Period
  /** The start of the first part. */
  from: Date
  /** At least one part has more deliveries than are counted. */
  isSampled: boolean
  /** Parts with attempts, oldest first; 0 is the first one. */
  parts: readonly (PartTally & { part: number })[]
}

/** `part` is null in the row of the whole period. */
type PartRow = PartTally & { part: number | null; deliveries: number | null }

/**
 * The statistics of one endpoint, without test events; null without attempts. Of each part the newest
 * deliveries are counted with their attempts in the period, so the work does not grow with the history.
 */
export async function measurePeriod(
  tx: Tx,
  { tenantId }: TenantScope,
  now: Date,
  endpointId: string,
  period: Period,
): Promise<PeriodStats | null> {
  const { parts, partMs } = periods[period]
  const from = startOf(period, now)
  const rows = await tx.sql<PartRow>`
    SELECT made.part, count(*)::int AS attempts,
      count(*) FILTER (WHERE made.succeeded)::int AS succeeded,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY made.duration_ms) AS "medianMs",
      percentile_disc(0.95) WITHIN GROUP (ORDER BY made.duration_ms)::float8 AS "p95Ms",
      max(d.deliveries)::int AS deliveries
    FROM (
      SELECT ${from}::timestamptz + make_interval(secs => n * ${partMs / 1_000}::float8) AS starts_at,
        CASE WHEN n = ${parts - 1}::int THEN 'infinity'
          ELSE ${from}::timestamptz + make_interval(secs => (n + 1) * ${partMs / 1_000}::float8)
        END AS ends_at
      FROM generate_series(0, ${parts - 1}::int) AS n
    ) span
    CROSS JOIN LATERAL (
      SELECT newest.id, count(*) OVER () AS deliveries FROM (
        SELECT d.id FROM deliveries d
        WHERE d.tenant_id = ${tenantId}::uuid AND d.endpoint_id = ${endpointId}::uuid
          AND d.created_at >= span.starts_at AND d.created_at < span.ends_at
          AND d.event_type <> 'endpoint.test' AND NOT d.example
        ORDER BY d.created_at DESC LIMIT ${sampledOfPart}
      ) newest
    ) d
    CROSS JOIN LATERAL (
      SELECT a.error IS NULL AND a.status_code BETWEEN 200 AND 299 AS succeeded, a.duration_ms,
        LEAST(${parts - 1}::int,
          floor(extract(epoch FROM a.started_at - ${from}::timestamptz) / ${partMs / 1_000}::float8)::int) AS part
      FROM delivery_attempts a
      WHERE a.tenant_id = ${tenantId}::uuid AND a.delivery_id = d.id
    ) made
    GROUP BY GROUPING SETS ((), (made.part))
    ORDER BY made.part`
  const total = rows.find(({ part }) => part === null)
  if (total === undefined || total.attempts === 0) return null
  const { deliveries, part: _, ...whole } = total
  return {
    ...whole,
    ...{ period, from, isSampled: deliveries === sampledOfPart },
    parts: rows.flatMap((row) => (row.part === null ? [] : [{ ...row, part: row.part }])),
  }
}

/** The last 24 hours end now; parts of longer periods begin at midnight, 6, 12 or 18 o'clock in UTC. */
function startOf(period: Period, now: Date): Date {
  const { parts, partMs } = periods[period]
  const end = period === 'day' ? now.getTime() : Math.ceil(now.getTime() / partMs) * partMs
  return new Date(end - parts * partMs)
}
