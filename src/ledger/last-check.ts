import type { Tx } from '#src/db/database.ts'
import type { Queryable } from '#src/db/system-database.ts'
import type { LedgerMetrics } from '#src/observability/metrics.ts'

/*
 * What the last check found, for operators, for the admins of a tenant, and as metrics. All of it is
 * read from the ledger and its checks, never from the events and deliveries themselves.
 */

/** Numbers of findings by day (UTC, `2026-01-31`); days without findings are left out. */
type CountByDay = Readonly<Record<string, number>>

/** What was counted on a day (UTC), and what of it is not accounted for. */
export type LedgerDay = {
  day: string
  /** Null if no window of the day is in the ledger. */
  counted: { received: number; published: number; deliveries: number } | null
  /** Null if an earlier release made the check. */
  unaccounted: number | null
}

/** What the last check found, for operators. */
export type LedgerState = {
  checkedAt: string
  unaccounted: number
  /** There is more than the numbers say. */
  partial: boolean
  /** The number of findings by kind. */
  kinds: Readonly<Record<string, number>>
  /** The last 14 days, newest first. */
  days: readonly LedgerDay[]
  /** The tenants with findings, those with most of them first, at most 50. */
  tenants: readonly { tenantId: string; days: CountByDay }[]
}

const shownDays = 14
const shownTenants = 50

/** For operators. @returns null if there was no check yet */
export async function findLedgerState(connection: Tx): Promise<LedgerState | null> {
  const [check, days, tenants] = await Promise.all([
    connection.sql<
      Pick<LedgerState, 'unaccounted' | 'partial' | 'kinds'> & { checkedAt: Date }
    >`SELECT checked_at AS "checkedAt", unaccounted, partial, kinds
        FROM ledger_checks ORDER BY id DESC LIMIT 1`,
    findDays(connection),
    connection.sql<
      LedgerState['tenants'][number]
    >`SELECT tenant_id AS "tenantId", days FROM unaccounted_tenants(${shownTenants}::int)`,
  ])
  const [row] = check
  return row === undefined
    ? null
    : { ...row, checkedAt: row.checkedAt.toISOString(), days, tenants }
}

type Day = {
  day: string
  received: number | null
  published: number | null
  deliveries: number | null
  unaccounted: number | null
}

async function findDays(connection: Queryable): Promise<LedgerDay[]> {
  const rows = await connection.sql<Day>`
      WITH last AS (
        SELECT unaccounted, days FROM ledger_checks ORDER BY id DESC LIMIT 1
      ), counted AS (
        SELECT date_bin('1 day', window_start, '2000-01-01 00:00:00+00') AS begins,
          sum(count) FILTER (WHERE kind = 'received')::float8 AS received,
          coalesce(sum(count) FILTER (WHERE kind = 'published'), 0)::float8 AS published,
          coalesce(sum(count) FILTER (WHERE kind = 'deliveries'), 0)::float8 AS deliveries
        FROM ledger
        WHERE window_start >= date_trunc('day', now(), 'UTC') - make_interval(days => ${shownDays - 1}::int)
        GROUP BY 1
      ), present AS (
        SELECT begins, to_char(begins AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day
        FROM generate_series(0, ${shownDays - 1}::int) AS ago
        CROSS JOIN LATERAL (
          SELECT date_trunc('day', now(), 'UTC') - ago * interval '24 hours' AS begins) d
      )
      SELECT p.day, c.received, c.published, c.deliveries,
        CASE WHEN l.unaccounted = 0 THEN 0
             WHEN l.days IS NOT NULL THEN coalesce((l.days ->> p.day)::int, 0) END AS unaccounted
      FROM present p CROSS JOIN last l LEFT JOIN counted c ON c.begins = p.begins
      ORDER BY p.begins DESC`
  return rows.map(({ day, received, published, deliveries, unaccounted }) => ({
    day,
    counted:
      received === null
        ? null
        : { received, published: published ?? 0, deliveries: deliveries ?? 0 },
    unaccounted,
  }))
}

/** What the last check found of a tenant's own events and deliveries. */
export type OwnLedgerState = {
  checkedAt: string
  partial: boolean
  /** Null if an earlier release made the check. */
  days: CountByDay | null
}

/** Of the tenant that `tx` is in. @returns null if there was no check yet */
export async function findOwnLedgerState(tx: Tx): Promise<OwnLedgerState | null> {
  const [row] = await tx.sql<
    Omit<OwnLedgerState, 'checkedAt'> & { checkedAt: Date }
  >`SELECT checked_at AS "checkedAt", partial, days FROM own_unaccounted()`
  return row === undefined ? null : { ...row, checkedAt: row.checkedAt.toISOString() }
}

/** Sets the gauges of what the last check did not account for, and of its age. */
export async function measureLedger(systemDb: Queryable, metrics: LedgerMetrics): Promise<void> {
  const [row] = await systemDb.sql<{ unaccounted: number; age: number }>`
    SELECT unaccounted, extract(epoch FROM now() - checked_at)::float8 AS age
    FROM ledger_checks ORDER BY id DESC LIMIT 1`
  metrics.unaccounted.set(row?.unaccounted ?? 0)
  metrics.checkedAge.set(Math.max(row?.age ?? 0, 0))
}
