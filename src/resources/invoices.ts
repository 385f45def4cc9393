import Type from 'typebox'
import type { TenantScope } from '#src/access/caller.ts'
import { scopeTenantId } from '#src/access/scope.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { type TimeRange, within } from '#src/db/keyset.ts'
import { oneStatement } from '#src/db/sql.ts'
import { byId, idForm, type Page, pageOf } from '#src/http/lists/pagination.ts'
import { Id, Time, Uuid } from '#src/http/schemas.ts'
import { publish } from '#src/webhooks/events/publish.ts'
import { eventKind } from '#src/webhooks/events/types.ts'

export const Invoice = Type.Object(
  {
    id: Id,
    tenantId: Uuid,
    amount: Type.Integer({ description: 'Minor units of the currency' }),
    currency: Type.String(),
    status: Type.String(),
    createdAt: Time,
  },
  { title: 'Invoice' },
)

export const invoiceCreated = eventKind(
  'invoice.created',
  'A charge was paid, and its invoice created',
  Invoice,
)

export const invoiceList = { name: 'invoices', forms: [idForm] }

export type InvoiceFilter = TimeRange & { readonly currency?: string | undefined }

/** The invoices of the tenant, newest first. */
export async function listInvoices(
  tx: Tx,
  scope: TenantScope,
  page: Page,
  { currency, ...range }: InvoiceFilter = {},
) {
  const { where, ...order } = byId(page)
  const createdAt = within(range)
  const rows = await tx.invoice.findMany({
    where: {
      tenantId: scope.tenantId,
      ...(currency !== undefined && { currency }),
      ...(createdAt && { createdAt }),
      ...where,
    },
    ...order,
  })
  return pageOf(rows, page, invoiceList.name, (row) => [String(row.id)], toInvoice)
}

/**
 * An invoice of the caller's tenant, or null if it is missing or another tenant's. Entry and statement
 * are one packet, so the tenant comes from the scope.
 */
export function findInvoice(id: number) {
  return oneStatement(
    Prisma.sql`
      SELECT id, tenant_id AS "tenantId", amount, currency, status, created_at AS "createdAt"
      FROM invoices WHERE tenant_id = ${scopeTenantId} AND id = ${id}`,
    ([row]: InvoiceRow[]) => (row === undefined ? null : toInvoice(row)),
  )
}

/**
 * Creates the invoice of a paid charge, once: `sourceEvent` is unique in the tenant.
 * @param amount minor units of `currency`
 */
export async function createInvoice(
  tx: Tx,
  scope: TenantScope,
  invoice: { amount: number; currency: string; sourceEvent: string },
  now: Date,
): Promise<void> {
  const [row] = await tx.invoice.createManyAndReturn({
    data: { ...invoice, tenantId: scope.tenantId, status: 'paid' },
    skipDuplicates: true,
  })
  if (row === undefined) return
  await publish(tx, scope, { kind: invoiceCreated, data: toInvoice(row) }, now)
}

/** A row read by Prisma or by the driver, which returns 64-bit integers as strings. */
type InvoiceRow = Omit<Prisma.InvoiceGetPayload<object>, 'id' | 'amount' | 'sourceEvent'> & {
  id: bigint | string
  amount: bigint | string
}

function toInvoice(row: InvoiceRow) {
  return {
    id: Number(row.id),
    tenantId: row.tenantId,
    amount: Number(row.amount),
    currency: row.currency,
    status: row.status,
    createdAt: row.createdAt.toISOString(),
  }
}
