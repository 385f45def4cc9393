import type { Description } from '#test/resources/description.ts'

const address = {
  ...{ name: 'Ada Lovelace', line1: '1 Analytical Street', city: 'London' },
  ...{ postalCode: 'N1', country: 'GB' },
}
const lineItems = [{ sku: 'GATE', quantity: 1, unitPrice: 900 }]

/** What a person has ordered, in whichever tenant. Its page is written by hand. */
export const order: Description = {
  ...{ name: 'order', path: '/orders', table: 'orders', specified: true },
  rules: {
    read: { reach: 'owner', token: 'order:read' },
    create: { reach: 'owner', token: 'order:write' },
    update: { reach: 'owner', token: 'order:write' },
  },
  row: ({ tenantId, userId }) => ({
    ...{
      tenant_id: tenantId,
      user_id: userId,
      currency: 'USD',
      line_items: '[]',
      card_last4: '4242',
    },
    shipping_address: JSON.stringify(address),
  }),
  body: { currency: 'USD', lineItems, shippingAddress: address, cardLast4: '4242' },
  change: { shippingAddress: { ...address, city: 'Porto' } },
  answer: ({ userId }, now) => ({
    ...{ userId, currency: 'USD', lineItems, shippingAddress: address, cardLast4: '4242' },
    ...{ createdAt: now, updatedAt: now },
  }),
  events: { PATCH: 'order.updated' },
  keptInEvents: ['currency', 'lineItems'],
}
