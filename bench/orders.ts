import { placePeople } from './people.ts'
import type { Place } from './place.ts'

/** A request for an order: its path and the owner's cookie. */
export type Read = { path: string; cookie: string }

export const people = 16

export const anOrder = {
  lineItems: [
    { sku: 'GATE', quantity: 1, unitPrice: 900 },
    { sku: 'HINGE', quantity: 2, unitPrice: 150 },
  ],
  shippingAddress: {
    name: 'Ada',
    line1: '1 Harbour Street',
    city: 'Lisbon',
    postalCode: '1100-012',
    country: 'PT',
  },
  cardLast4: '4242',
}

/** Creates users with a session and an order each, each in a separate tenant. */
export async function placeOrders({ superuserUrl }: Place, count = people): Promise<Read[]> {
  const { lineItems, shippingAddress, cardLast4 } = anOrder
  const values = [JSON.stringify(lineItems), JSON.stringify(shippingAddress), cardLast4]
  const placed = await placePeople<{ id: string }>(superuserUrl, count, ordering, values)
  return placed.map(({ id, cookie }) => ({ path: `/orders/${id}`, cookie }))
}

const ordering = `
  INSERT INTO orders (tenant_id, user_id, line_items, shipping_address, card_last4)
  SELECT tenant_id, user_id, $2, $3, $4 FROM member RETURNING id`
