import Type from 'typebox'
import { Line, Nullable, Time, Uuid } from '#src/http/schemas.ts'
import { deliveryStatuses, maxShownAttempts } from '#src/webhooks/delivery/deliveries.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'

export const EventTypeName = Type.Enum([...eventTypes], { title: 'EventType' })
export const DeliveryStatusName = Type.Enum([...deliveryStatuses], { title: 'DeliveryStatus' })

export const Signature = Type.Enum(['spec', 'standard', 'both'], {
  title: 'SignatureProfile',
  description:
    '`spec`: `v1,` and base64 of HMAC-SHA256 over `<timestamp>.<body>`, keyed with the secret string; `standard`: Standard Webhooks 1.0.0; `both`: `spec`, then `standard`',
})

const typesDescription = 'Types of events that are sent to it; null for all'

export const Endpoint = Type.Object(
  {
    id: Uuid,
    url: Type.String(),
    description: Nullable(Type.String()),
    eventTypes: Nullable(Type.Array(EventTypeName, { description: typesDescription })),
    signature: Signature,
    status: Type.Enum(['active', 'failing', 'disabled']),
    createdAt: Time,
    failingSince: Nullable(Time),
    disabledAt: Nullable(Time),
  },
  { title: 'WebhookEndpoint' },
)

/** Returned when it is created, and never again. */
export const Secret = Type.String({
  description: '`whsec_` and base64; store it now, it is not shown again',
})

const fields = {
  url: Type.String({
    minLength: 1,
    maxLength: 2_048,
    description: 'https, port 443 or 8443, a public host; no user name, password or fragment',
  }),
  description: Nullable(Line(500)),
  eventTypes: Nullable(
    Type.Array(EventTypeName, {
      minItems: 1,
      maxItems: eventTypes.length,
      uniqueItems: true,
      description: typesDescription,
    }),
  ),
  signature: Signature,
}

export const NewEndpoint = Type.Object(
  {
    url: fields.url,
    description: Type.Optional(fields.description),
    eventTypes: Type.Optional(fields.eventTypes),
    signature: Type.Optional(fields.signature),
  },
  { title: 'NewWebhookEndpoint', additionalProperties: false },
)

export const EndpointChange = Type.Partial(Type.Object(fields), {
  title: 'WebhookEndpointChange',
  additionalProperties: false,
  minProperties: 1,
})

export const Delivery = Type.Object(
  {
    id: Uuid,
    eventId: Type.String({ description: 'Also the `webhook-id` header and the `id` in the body' }),
    eventType: EventTypeName,
    endpointId: Uuid,
    status: DeliveryStatusName,
    createdAt: Time,
    nextAttemptAt: Nullable(Time),
    attempts: Type.Array(
      Type.Object(
        {
          series: Type.Integer({
            description: '0 is the schedule; every replay begins the next one',
          }),
          number: Type.Integer(),
          startedAt: Time,
          durationMs: Type.Integer(),
          statusCode: Nullable(Type.Integer()),
          error: Nullable(Type.String({ description: 'Why there was no complete response' })),
          explanation: Nullable(
            Type.String({ description: 'Why it failed and what to do; null if it succeeded' }),
          ),
          responseExcerpt: Nullable(
            Type.String({ description: 'The first 2 KiB of the response' }),
          ),
        },
        { title: 'DeliveryAttempt' },
      ),
      { description: `In order; the newest ${maxShownAttempts}` },
    ),
  },
  { title: 'Delivery' },
)

export const disabledHint =
  'The endpoint is disabled. Enable it first: POST /webhook-endpoints/:id/enable'
