import Type from 'typebox'
import type { EndpointFacts } from '#src/webhooks/endpoints/endpoints.ts'
import { Endpoint, EventTypeName } from '#src/webhooks/endpoints/schemas.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'

/** What the form of an endpoint sends. The URL is judged by the guard, which has words for it. */
export const EndpointFields = Type.Object(
  {
    url: Type.String(),
    description: Type.String({ maxLength: 500, pattern: '^[^\\p{Cc}\\p{Cs}]*$' }),
    // A form sends one checked box as a text, several as a list, none not at all.
    eventTypes: Type.Optional(
      Type.Union([EventTypeName, Type.Array(EventTypeName, { maxItems: eventTypes.length })]),
    ),
    signature: Endpoint.properties.signature,
  },
  { additionalProperties: false },
)

/** The facts of an endpoint as a form says them: an empty field is none, no kind is every kind. */
export function readFields(fields: Type.Static<typeof EndpointFields>): EndpointFacts {
  const { url, description, eventTypes: kinds, signature } = fields
  return {
    url: url.trim(),
    description: description.trim() === '' ? null : description,
    eventTypes: kinds === undefined ? null : [...new Set([kinds].flat())],
    signature,
  }
}
