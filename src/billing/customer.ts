import type { Queryable } from '#src/db/system-database.ts'

/** The user behind a billing customer, and the tenant the user's invoices go to. */
export type Customer = { userId: number; tenantId: string }

/** @returns null when no user carries the customer id, or the user has no tenant of their own */
export async function findCustomer(plane: Queryable, customer: string): Promise<Customer | null> {
  const { rows } = await plane.query<{ id: string; own_tenant_id: string | null }>({
    name: 'find-customer',
    text: 'SELECT id, own_tenant_id FROM users WHERE billing_customer = $1',
    values: [customer],
  })
  const [row] = rows
  if (row === undefined || row.own_tenant_id === null) return null
  return { userId: Number(row.id), tenantId: row.own_tenant_id }
}
