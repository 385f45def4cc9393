import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { invoices } from '#src/resources/invoices.ts'
import { actionsOf } from '#src/rows/actions.ts'

const { columns, toItem, publish } = actionsOf(invoices)

/** What is known of a payment, beside its amount. */
export type PaymentState = { refunded: number; dispute: 'open' | 'lost' | null }

type NewInvoice = {
  /** Minor units of `currency`. */
  amount: number
  currency: string
  /** Digits of the minor unit. */
  digits: number
  /** Unique in the tenant, as is `payment`. */
  sourceEvent: string
  payment: string | null
  /** The tenant has paid, so of its people only those who manage it see it. */
  forManagers: boolean
}

/** Creates the invoice of a payment, once. */
export async function createInvoice(
  tx: Tx,
  { tenantId }: TenantScope,
  { amount, currency, digits, sourceEvent, payment, forManagers }: NewInvoice,
  state: PaymentState,
  now: Date,
): Promise<void> {
  const [row] = await tx.sql`
    INSERT INTO invoices
      (tenant_id, amount, currency, digits, status, amount_refunded, source_event, payment,
       for_managers)
    VALUES (${tenantId}::uuid, ${amount}, ${currency}, ${digits}, ${statusOf(amount, state)},
            ${state.refunded}, ${sourceEvent}, ${payment}, ${forManagers})
    ON CONFLICT DO NOTHING RETURNING ${columns}`
  if (row !== undefined) await publish(tx, tenantId, 'created', toItem(row), now)
}

/**
 * Applies the state of a payment to its invoice, if the tenant has it. Requires `lockPayment`
 * (src/billing/objects.ts), so that the state does not change between read and update.
 */
export async function updateInvoice(
  tx: Tx,
  { tenantId }: TenantScope,
  payment: string,
  state: PaymentState,
  now: Date,
): Promise<void> {
  const [before] = await tx.sql<{ amount: bigint; refunded: bigint; status: string }>`
    SELECT amount, amount_refunded AS refunded, status FROM invoices
    WHERE tenant_id = ${tenantId}::uuid AND payment = ${payment}`
  if (before === undefined) return
  const status = statusOf(Number(before.amount), state)
  if (state.refunded === Number(before.refunded) && status === before.status) return
  const [row] = await tx.sql`
    UPDATE invoices SET status = ${status}, amount_refunded = ${state.refunded}
    WHERE tenant_id = ${tenantId}::uuid AND payment = ${payment} RETURNING ${columns}`
  if (row !== undefined) await publish(tx, tenantId, 'updated', toItem(row), now)
}

function statusOf(amount: number, { refunded, dispute }: PaymentState) {
  if (dispute !== null) return dispute === 'open' ? 'disputed' : 'lost'
  return refunded > 0 && refunded >= amount ? 'refunded' : 'paid'
}
