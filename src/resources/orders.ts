import Type, { type Static } from 'typebox'
import type { OwnerScope, TenantScope } from '#src/access/caller.ts'
import { scopeUserId } from '#src/access/scope.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { type TimeRange, within } from '#src/db/keyset.ts'
import { oneStatement } from '#src/db/sql.ts'
import { byId, idForm, type Page, pageOf } from '#src/http/lists/pagination.ts'
import { Id, Line, Time } from '#src/http/schemas.ts'
import { publish } from '#src/webhooks/events/publish.ts'
import { eventKind } from '#src/webhooks/events/types.ts'

export const ShippingAddress = Type.Object(
  {
    name: Line(200),
    line1: Line(200),
    line2: Type.Optional(Line(200)),
    city: Line(200),
    postalCode: Line(32),
    country: Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2' }),
  },
  { title: 'ShippingAddress', additionalProperties: false },
)
export type ShippingAddress = Static<typeof ShippingAddress>

const LineItem = Type.Object(
  {
    sku: Type.String(),
    quantity: Type.Integer(),
    unitPrice: Type.Integer({ description: 'Minor units' }),
  },
  { title: 'LineItem' },
)
export type LineItem = Static<typeof LineItem>

export const Order = Type.Object(
  {
    id: Id,
    userId: Id,
    lineItems: Type.Array(LineItem),
    shippingAddress: ShippingAddress,
    cardLast4: Type.String(),
    createdAt: Time,
    updatedAt: Time,
  },
  { title: 'Order' },
)

export const orderUpdated = eventKind('order.updated', 'An order was changed', Order)

export const orderList = { name: 'orders', forms: [idForm] }

export type OrderFilter = TimeRange & { readonly tenantId?: string | undefined }

/** The orders of `owner` in all their tenants, newest first. */
export async function listOrders(
  tx: Tx,
  owner: OwnerScope,
  page: Page,
  { tenantId, ...range }: OrderFilter = {},
) {
  const { where, ...order } = byId(page)
  const createdAt = within(range)
  const rows = await tx.order.findMany({
    where: {
      userId: owner.userId,
      ...(tenantId !== undefined && { tenantId }),
      ...(createdAt && { createdAt }),
      ...where,
    },
    ...order,
  })
  return pageOf(rows, page, orderList.name, (row) => [String(row.id)], toOrder)
}

const columns = Prisma.sql`
  id, user_id AS "userId", line_items AS "lineItems", shipping_address AS "shippingAddress",
  card_last4 AS "cardLast4", created_at AS "createdAt", updated_at AS "updatedAt"`

/**
 * An order of the caller, or null if it is missing or not theirs. Entry and statement are one packet,
 * so the owner comes from the scope.
 */
export function findOrder(id: number) {
  return oneStatement(
    Prisma.sql`
      SELECT ${columns} FROM orders WHERE user_id = ${scopeUserId} AND id = ${id}`,
    ([row]: OrderRow[]) => (row === undefined ? null : toOrder(row)),
  )
}

/**
 * An order of `owner`, locked until the transaction ends; null if it is missing or not theirs. It can be
 * in any tenant.
 */
export async function lockOrder(tx: Pick<Tx, 'sql'>, { userId }: OwnerScope, id: number) {
  const [row] = await tx.sql<OrderRow>`
    SELECT ${columns} FROM orders WHERE user_id = ${userId} AND id = ${id} FOR UPDATE`
  return row === undefined ? null : toOrder(row)
}

/** The newest orders of `owner`, for the start page. */
export async function findLatestOrders(tx: Tx, owner: OwnerScope, limit: number) {
  const rows = await tx.order.findMany({
    where: { userId: owner.userId },
    orderBy: { id: 'desc' },
    take: limit,
  })
  return rows.map((row) => {
    const { id, shippingAddress, lineItems } = toOrder(row)
    return { id, city: shippingAddress.city, items: lineItems.length }
  })
}

/**
 * Creates an order of `owner` in their active tenant.
 * @throws Problem `forbidden` if the owner has been removed meanwhile
 */
export async function createOrder(
  tx: Tx,
  owner: OwnerScope & TenantScope,
  order: { lineItems: LineItem[]; shippingAddress: ShippingAddress; cardLast4: string },
  now: Date,
) {
  const { userId, tenantId } = owner
  const { lineItems, shippingAddress, cardLast4 } = order
  const row = await tx.order.create({
    data: {
      userId,
      tenantId,
      lineItems,
      shippingAddress,
      cardLast4,
      createdAt: now,
      updatedAt: now,
    },
  })
  return toOrder(row)
}

/**
 * Changes the shipping address of an order of `owner`; null if it is missing or not theirs. The event
 * belongs to the tenant that the order was placed in, whichever tenant the owner is in now; there is none
 * if the owner is no member of that tenant any more. The transaction enters that tenant and stays in it, so
 * this is the last thing that it does.
 */
export async function changeOrder(
  tx: Tx,
  owner: OwnerScope,
  id: number,
  change: { shippingAddress: ShippingAddress },
  now: Date,
) {
  const [entered] = await tx.sql<{ tenantId: string | null }>`
    SELECT enter_order_tenant(${id}) AS "tenantId"`
  const tenantId = entered?.tenantId ?? null
  const [row] = await tx.order.updateManyAndReturn({
    where: { id, userId: owner.userId, ...(tenantId !== null && { tenantId }) },
    data: { shippingAddress: change.shippingAddress, updatedAt: now },
  })
  const order = row && toOrder(row)
  if (order && tenantId !== null) {
    await publish(tx, { tenantId }, { kind: orderUpdated, data: order }, now)
  }
  return order ?? null
}

/** A row read by Prisma or by the driver, which returns 64-bit integers as strings. */
type OrderRow = Omit<Prisma.OrderGetPayload<object>, 'id' | 'userId' | 'tenantId'> & {
  id: bigint | string
  userId: bigint | string
}

function toOrder(row: OrderRow) {
  return {
    id: Number(row.id),
    userId: Number(row.userId),
    // Only the route writes these columns, with values that match its schemas.
    lineItems: row.lineItems as LineItem[],
    shippingAddress: row.shippingAddress as ShippingAddress,
    cardLast4: row.cardLast4,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}
