import type { Tx } from '#src/db/database.ts'

/** The first lock: the tenant of the verified session. */
export type TenantScope = { readonly tenantId: string }

/** An invoice of the tenant, or null: missing and another tenant's are the same. */
export async function findInvoice(tx: Tx, scope: TenantScope, id: number) {
  const row = await tx.invoice.findFirst({ where: { id, tenantId: scope.tenantId } })
  if (row === null) return null
  return {
    id: Number(row.id),
    tenantId: row.tenantId,
    amount: Number(row.amount),
    currency: row.currency,
    status: row.status,
    createdAt: row.createdAt.toISOString(),
  }
}

/**
 * Makes the invoice of a paid charge; the event is its key, so running twice makes one.
 * @param amount minor units of `currency`
 */
export async function createInvoice(
  tx: Tx,
  scope: TenantScope,
  invoice: { amount: number; currency: string; sourceEvent: string },
): Promise<void> {
  await tx.invoice.createMany({
    data: { ...invoice, tenantId: scope.tenantId, status: 'paid' },
    skipDuplicates: true,
  })
}
