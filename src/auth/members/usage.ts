import type { TenantScope } from '#src/access/caller.ts'
import type { Budget, QuotaConfig } from '#src/config/parse.ts'
import type { Tx } from '#src/db/database.ts'
import { toBudgets } from '#src/db/quota.ts'
import type { Queryable } from '#src/db/system-database.ts'
import type { QuotaMetrics } from '#src/observability/metrics.ts'

/** What is stored under one budget, and its limits; null for none. Bytes are those of the texts. */
export type Used = { rows: number; bytes: number; maxRows: number | null; maxBytes: number | null }

/** What a tenant stores: what its people create, and what is published and delivered for it. */
export type Usage = { resources: Used; events: Used }

type Row = Record<`${'resource' | 'event'}_${'rows' | 'bytes'}`, string> &
  Record<`max_${'resource' | 'event'}_${'rows' | 'bytes'}`, string | null>

/** What the tenant stores. Counters are kept by triggers, so this reads a few rows. */
export async function findUsage(
  tx: Tx,
  { tenantId }: TenantScope,
  quota: QuotaConfig,
): Promise<Usage> {
  const rows = await tx.sql<Row>`
    SELECT u.resource_rows + coalesce(sum(c.resource_rows), 0)::bigint AS resource_rows,
      u.resource_bytes + coalesce(sum(c.resource_bytes), 0)::bigint AS resource_bytes,
      u.event_rows + coalesce(sum(c.event_rows), 0)::bigint AS event_rows,
      u.event_bytes + coalesce(sum(c.event_bytes), 0)::bigint AS event_bytes,
      u.max_resource_rows, u.max_resource_bytes, u.max_event_rows, u.max_event_bytes
    FROM tenant_usage u LEFT JOIN usage_changes c ON c.tenant_id = u.tenant_id
    WHERE u.tenant_id = ${tenantId}::uuid GROUP BY u.tenant_id`
  return toUsage(rows[0], quota)
}

function toUsage(row: Row | undefined, quota: QuotaConfig): Usage {
  const used = (kind: 'resource' | 'event', budget: Budget): Used => ({
    rows: Number(row?.[`${kind}_rows`] ?? 0),
    bytes: Number(row?.[`${kind}_bytes`] ?? 0),
    ...limitsOf(row?.[`max_${kind}_rows`] ?? null, row?.[`max_${kind}_bytes`] ?? null, budget),
  })
  return { resources: used('resource', quota.resources), events: used('event', quota.events) }
}

/** Limits of the tenant's own, else those of the setting. */
function limitsOf(maxRows: string | null, maxBytes: string | null, budget: Budget) {
  const standard = budget === 'off' ? null : budget
  return {
    maxRows: maxRows === null ? (standard?.rows ?? null) : toLimit(maxRows),
    maxBytes: maxBytes === null ? (standard?.bytes ?? null) : toLimit(maxBytes),
  }
}

function toLimit(text: string): number | null {
  const limit = Number(text)
  return Number.isSafeInteger(limit) ? limit : null
}

/** For operators: the tenants that store most, at most `limit` of them. */
export async function listUsage(
  systemDb: Queryable,
  limit: number,
  quota: QuotaConfig,
): Promise<(Usage & { tenantId: string })[]> {
  const rows = await systemDb.sql<Row & { tenant_id: string }>`SELECT * FROM list_usage(${limit})`
  return rows.map((row) => ({ tenantId: row.tenant_id, ...toUsage(row, quota) }))
}

/**
 * For operators: gives a tenant limits of its own, which replace those it had. `null` for a budget
 * leaves it to the setting; `off` sets no limit.
 * @returns false if there is no such tenant
 */
export async function setQuota(
  systemDb: Queryable,
  tenantId: string,
  limits: { resources: Budget | null; events: Budget | null },
): Promise<boolean> {
  const [row] = await systemDb.sql<{ found: boolean }>`
    SELECT set_quota(${tenantId},
      (${limits.resources && toBudgets({ resources: limits.resources, events: 'off' })}::bigint[])[1:2],
      (${limits.events && toBudgets({ resources: 'off', events: limits.events })}::bigint[])[3:4])
      AS found`
  return row?.found === true
}

/** A tenant whose counters differ from what its rows say. */
export type WrongUsage = { tenantId: string; counted: string; stored: string }

const beforeAll = '00000000-0000-0000-0000-000000000000'

/**
 * Counts the rows of every tenant and compares them with its counters, tenant by tenant, beside
 * running processes. @param repair also corrects wrong counters
 */
export async function checkUsage(
  systemDb: Queryable,
  repair: boolean,
): Promise<{ tenants: number; wrong: WrongUsage[] }> {
  const wrong: WrongUsage[] = []
  let tenantAfter = beforeAll
  for (let tenants = 0; ; tenants += 1) {
    const [row] = await systemDb.sql<WrongUsage & { tenant_id: string; is_right: boolean }>`
      SELECT tenant_id, counted IS NOT DISTINCT FROM stored AS is_right, array_to_string(counted, '/') AS counted,
        array_to_string(stored, '/') AS stored
      FROM check_usage(${tenantAfter}, ${repair})`
    if (row === undefined) return { tenants, wrong }
    const { tenant_id: tenantId, counted, stored } = row
    if (!row.is_right) wrong.push({ tenantId, counted, stored })
    tenantAfter = tenantId
  }
}

const nearShare = 0.9

/** Sets the gauges of tenants that have used at least 90 % of a budget. */
export async function measureUsage(
  systemDb: Queryable,
  metrics: QuotaMetrics,
  quota: QuotaConfig,
): Promise<void> {
  const [near] = await systemDb.sql<{ resources: string; events: string }>`
    SELECT resources, events FROM count_near_quota(${toBudgets(quota)}::bigint[], ${nearShare})`
  metrics.near.set({ budget: 'resources' }, Number(near?.resources ?? 0))
  metrics.near.set({ budget: 'events' }, Number(near?.events ?? 0))
}
