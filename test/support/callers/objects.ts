import type { TestUser } from '#dev/testing/people.ts'
import type { TestDatabase } from '#test/support/database/database.ts'

const address = {
  name: 'Ada',
  line1: '1 Harbour Street',
  city: 'Lisbon',
  postalCode: '1100-012',
  country: 'PT',
}

/** Creates an order of `user`; resolves to its id. */
export async function createOrder(database: TestDatabase, user: TestUser): Promise<number> {
  const { rows } = await database.admin.query<{ id: string }>(
    `INSERT INTO orders (tenant_id, user_id, line_items, shipping_address, card_last4)
     VALUES ($1, $2, $3, $4, '4242') RETURNING id`,
    [
      user.tenantId,
      user.userId,
      JSON.stringify([{ sku: 'GATE', quantity: 1, unitPrice: 900 }]),
      JSON.stringify(address),
    ],
  )
  return Number(rows[0]?.id)
}

/** Creates an invoice of the tenant; resolves to its id. */
export async function createTestInvoice(database: TestDatabase, tenantId: string): Promise<number> {
  const { rows } = await database.admin.query<{ id: string }>(
    `INSERT INTO invoices (tenant_id, amount, currency, status)
     VALUES ($1, 4900, 'eur', 'paid') RETURNING id`,
    [tenantId],
  )
  return Number(rows[0]?.id)
}

/** Creates a post of the tenant whose author no longer exists; resolves to its id. */
export async function createTestPost(
  database: TestDatabase,
  tenantId: string,
  department: string | null = null,
): Promise<number> {
  const { rows } = await database.admin.query<{ id: string }>(
    `INSERT INTO posts (tenant_id, department, title, body)
     VALUES ($1, $2, 'A title', 'A body') RETURNING id`,
    [tenantId, department],
  )
  return Number(rows[0]?.id)
}
