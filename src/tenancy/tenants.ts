import type { Tx } from '#src/db/database.ts'

/** Id and name of the tenant the session is in. */
export async function findTenant(tx: Tx, scope: { readonly tenantId: string }) {
  return tx.tenant.findFirst({
    where: { id: scope.tenantId },
    select: { id: true, name: true },
  })
}
