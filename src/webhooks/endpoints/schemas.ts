import Type from 'typebox'
import { Line, Nullable, Time, Uuid } from '#src/http/schemas.ts'
import { deliveryStatuses } from '#src/webhooks/delivery/deliveries.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'

export const EventTypeName = Type.Enum([...eventTypes])
export const DeliveryStatusName = Type.Enum([...deliveryStatuses])

const Signature = Type.Enum(['spec', 'standard', 'both'], {
  description:
    '`spec`: `v1,` and base64 of HMAC-SHA256 over `<timestamp>.<body>`, keyed with the secret string; `standard`: as Standard Webhooks 1.0.0; `both`: first one, then the other',
})

const everyKind = 'Kinds of events it is sent; null for all'

export const Endpoint = Type.Object({
  id: Uuid,
  url: Type.String(),
  description: Nullable(Type.String()),
  eventTypes: Nullable(Type.Array(Type.String(), { description: everyKind })),
  signature: Signature,
  status: Type.Enum(['active', 'failing', 'disabled']),
  createdAt: Time,
  failingSince: Nullable(Time),
  disabledAt: Nullable(Time),
})

/** Shown when it is made and never again. */
export const Secret = Type.String({
  description: '`whsec_` and base64; keep it now, it is not shown again',
})

const facts = {
  url: Type.String({
    minLength: 1,
    maxLength: 2_048,
    description: 'https, port 443 or 8443, a public host; without user name, password and fragment',
  }),
  description: Nullable(Line(500)),
  eventTypes: Nullable(
    Type.Array(EventTypeName, {
      minItems: 1,
      maxItems: eventTypes.length,
      uniqueItems: true,
      description: everyKind,
    }),
  ),
  signature: Signature,
}

export const NewEndpoint = Type.Object(
  {
    url: facts.url,
    description: Type.Optional(facts.description),
    eventTypes: Type.Optional(facts.eventTypes),
    signature: Type.Optional(facts.signature),
  },
  { additionalProperties: false },
)

export const EndpointChange = Type.Partial(Type.Object(facts), {
  additionalProperties: false,
  minProperties: 1,
})

export const Delivery = Type.Object({
  id: Uuid,
  eventId: Type.String({ description: 'The `webhook-id` and the `id` in the body' }),
  eventType: Type.String(),
  endpointId: Uuid,
  status: DeliveryStatusName,
  createdAt: Time,
  nextAttemptAt: Nullable(Time),
  attempts: Type.Array(
    Type.Object({
      series: Type.Integer({
        description: '0 is the schedule; every replay begins the next one, which counts from 1',
      }),
      number: Type.Integer(),
      startedAt: Time,
      durationMs: Type.Integer(),
      statusCode: Nullable(Type.Integer()),
      error: Nullable(Type.String({ description: 'Why there was no whole answer' })),
      explanation: Nullable(
        Type.String({ description: 'Why it failed and what to do; null where it succeeded' }),
      ),
      responseExcerpt: Nullable(Type.String({ description: 'The first 2 KiB of the answer' })),
    }),
    { description: 'In the order they were made' },
  ),
})

/** Why nothing is replayed to a disabled endpoint, and the way out. */
export const disabledHint =
  'The endpoint is disabled: enable it first (POST /webhook-endpoints/:id/enable)'
