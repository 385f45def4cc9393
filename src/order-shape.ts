import Type from 'typebox'
import { Line } from '#src/http/schemas.ts'

export const ShippingAddress = Type.Object(
  {
    name: Line(200),
    line1: Line(200),
    line2: Type.Optional(Line(200)),
    city: Line(200),
    postalCode: Line(32),
    country: Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2' }),
  },
  { additionalProperties: false },
)
