import type { Scope, Tx } from './database.ts'

/**
 * Runs `work` in the tenant of a row that the transaction found under another lock: an order is
 * its owner's in whichever tenant they are, but what is told of it belongs where it was placed.
 * @param scope of the transaction; afterwards it holds again
 * @param tenantId as the row has it, never as a request does
 */
export async function inTenant<T>(
  tx: Tx,
  scope: Scope,
  tenantId: string,
  work: () => Promise<T>,
): Promise<T> {
  if (scope.tenantId === tenantId) return work()
  await setTenant(tx, tenantId)
  const result = await work()
  await setTenant(tx, scope.tenantId ?? '')
  return result
}

async function setTenant(tx: Tx, tenantId: string): Promise<void> {
  await tx.$queryRaw`SELECT set_config('app.tenant_id', ${tenantId}, true)`
}
