import type { Tx } from '#src/db/database.ts'
import type { Queryable } from '#src/db/system-database.ts'
import type { LedgerMetrics } from '#src/observability/metrics.ts'

/** What the last check found, for operators. */
export type LedgerState = {
  checkedAt: string
  unaccounted: number
  /** There is more than the numbers say. */
  partial: boolean
  /** The number of findings by kind. */
  kinds: Readonly<Record<string, number>>
  /** The tenants with findings, those with most of them first, at most 50. */
  tenants: readonly { tenantId: string; findings: number }[]
}

const shownTenants = 50

/** For operators. @returns null if there was no check yet */
export async function findLedgerState(connection: Tx): Promise<LedgerState | null> {
  const [check, tenants] = await Promise.all([
    connection.sql<Omit<LedgerState, 'checkedAt' | 'tenants'> & { checkedAt: Date }>`
      SELECT checked_at AS "checkedAt", unaccounted, partial, kinds
      FROM ledger_checks ORDER BY id DESC LIMIT 1`,
    connection.sql<LedgerState['tenants'][number]>`
      SELECT tenant_id AS "tenantId", findings FROM unaccounted_tenants(${shownTenants}::int)`,
  ])
  const [row] = check
  return row === undefined ? null : { ...row, checkedAt: row.checkedAt.toISOString(), tenants }
}

/** What the last check found of a tenant's own events and deliveries. */
export type OwnLedgerState = {
  checkedAt: string
  /** There is more than the number says, of this or of another tenant. */
  partial: boolean
  findings: number
}

/** Of the tenant that `tx` is in. @returns null if there was no check yet */
export async function findOwnLedgerState(tx: Tx): Promise<OwnLedgerState | null> {
  const [row] = await tx.sql<
    Omit<OwnLedgerState, 'checkedAt'> & { checkedAt: Date }
  >`SELECT checked_at AS "checkedAt", partial, findings FROM own_unaccounted()`
  return row === undefined ? null : { ...row, checkedAt: row.checkedAt.toISOString() }
}

/** The number of findings of the last check, and its age. @returns null if there was no check yet */
export async function findLastCheck(
  systemDb: Queryable,
): Promise<{ unaccounted: number; ageSeconds: number } | null> {
  const [row] = await systemDb.sql<{ unaccounted: number; ageSeconds: number }>`
    SELECT unaccounted, greatest(extract(epoch FROM now() - checked_at), 0)::float8 AS "ageSeconds"
    FROM ledger_checks ORDER BY id DESC LIMIT 1`
  return row ?? null
}

/** Sets the gauges of what the last check did not account for, and of its age. */
export async function measureLedger(systemDb: Queryable, metrics: LedgerMetrics): Promise<void> {
  const last = await findLastCheck(systemDb)
  metrics.unaccounted.set(last?.unaccounted ?? 0)
  metrics.checkedAge.set(last?.ageSeconds ?? 0)
}
