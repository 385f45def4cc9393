import {
  created,
  currency,
  defineResource,
  described,
  field,
  hidden,
  id,
  json,
  Line,
  owner,
  tenant,
  updated,
} from 'gatehouse'
import Type, { type Static } from 'typebox'

export const ShippingAddress = Type.Object(
  {
    name: Line(200, 'Who receives the parcel'),
    line1: Line(200, 'Street and number'),
    line2: Type.Optional(Line(200, 'Floor, door or the like')),
    city: Line(200, 'Town or city'),
    postalCode: Line(32, 'As the country writes it'),
    country: Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2' }),
  },
  { title: 'ShippingAddress', additionalProperties: false },
)
export type ShippingAddress = Static<typeof ShippingAddress>

const LineItem = Type.Object(
  {
    sku: Type.String({ description: 'Number of the article in stock' }),
    quantity: Type.Integer({ description: 'How many of it' }),
    unitPrice: Type.Integer({ description: 'Minor units of the currency' }),
  },
  { title: 'LineItem' },
)
export type LineItem = Static<typeof LineItem>

// The total of an order stays an exact number: 100 × 10^4 × 10^9 < 2^53.
const NewLineItem = Type.Object(
  {
    sku: Line(100, 'Number of the article in stock'),
    quantity: Type.Integer({ minimum: 1, maximum: 10_000, description: 'How many of it' }),
    unitPrice: Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      description: 'Minor units of the currency',
    }),
  },
  { title: 'NewLineItem', additionalProperties: false },
)

/** What a person has ordered, in the tenant that was active then. */
export const orders = defineResource('order', {
  plural: 'orders',
  scope: 'owner',
  fields: {
    id: id(),
    userId: owner(),
    tenantId: hidden(tenant('Placed in this tenant')),
    currency: currency('EUR'),
    lineItems: described(
      json(Type.Array(LineItem), Type.Array(NewLineItem, { minItems: 1, maxItems: 100 })),
      'What was ordered',
    ),
    shippingAddress: described(json(ShippingAddress, ShippingAddress), 'Where the parcel goes'),
    cardLast4: field('text', Type.String(), {
      usual: 'The last four digits of the card that it was paid with',
      written: Type.String({ pattern: '^[0-9]{4}$' }),
    }),
    createdAt: created(),
    updatedAt: updated(),
  },
  filters: ['tenantId'],
  actions: {
    read: { permission: null, token: 'order:read' },
    create: {
      permission: null,
      token: 'order:write',
      accepts: ['currency', 'lineItems', 'shippingAddress', 'cardLast4'],
      summary: 'Place an order',
      description: 'The order is yours, in your active tenant.',
    },
    update: {
      permission: null,
      token: 'order:write',
      accepts: ['shippingAddress'],
      summary: 'Change the shipping address of one of your orders',
    },
  },
  events: { updated: 'An order was changed' },
  erased: {
    shippingAddress: {
      name: 'erased',
      line1: 'erased',
      city: 'erased',
      postalCode: 'erased',
      country: 'ZZ',
    },
    cardLast4: '0000',
  },
  example: {
    shippingAddress: {
      name: 'Ada Okafor',
      line1: '1 Harbour Street',
      city: 'Lisbon',
      postalCode: '1100-012',
      country: 'PT',
    },
  },
})
