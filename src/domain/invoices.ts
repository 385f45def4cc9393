import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { invoices } from '#src/resources/invoices.ts'
import { actionsOf } from './actions.ts'

const { columns, toItem, publish } = actionsOf(invoices)

/**
 * Creates the invoice of a paid charge, once: `sourceEvent` is unique in the tenant.
 * @param amount minor units of `currency`
 */
export async function createInvoice(
  tx: Tx,
  { tenantId }: TenantScope,
  { amount, currency, sourceEvent }: { amount: number; currency: string; sourceEvent: string },
  now: Date,
): Promise<void> {
  const [row] = await tx.sql`
    INSERT INTO invoices (tenant_id, amount, currency, status, source_event)
    VALUES (${tenantId}::uuid, ${amount}, ${currency}, 'paid', ${sourceEvent})
    ON CONFLICT DO NOTHING RETURNING ${columns}`
  if (row !== undefined) await publish(tx, tenantId, 'created', toItem(row), now)
}
