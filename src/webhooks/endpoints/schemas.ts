import Type from 'typebox'
import { Line, Nullable, Time, Uuid } from '#src/http/schemas.ts'
import { appTypeName } from '#src/webhooks/events/app-types.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import { countedDue, healthStates } from '#src/webhooks/health/health.ts'
import { maxRate, type RateLimit } from '#src/webhooks/schedule/rate-limit.ts'

/** A type of the program, or one that the app has registered. */
export const EventTypeName = Type.String({
  maxLength: 100,
  pattern: appTypeName.source,
  description: `${eventTypes.map((type) => `\`${type}\``).join(', ')}, or a type of the app`,
  examples: ['invoice.created'],
})

/** Types that an endpoint chooses at most. */
export const maxChosenTypes = 100

export const Signature = Type.Enum(['spec', 'standard', 'both'], {
  title: 'SignatureProfile',
  description:
    '`spec`: `v1,` and base64 of HMAC-SHA256 over `<timestamp>.<body>`, keyed with the secret string; `standard`: Standard Webhooks 1.0.0; `both`: `spec`, then `standard`',
})

const Rate = Type.Integer({ minimum: 1, maximum: maxRate })
const rateDescription =
  'Deliveries to it per second, and how many at once after a quiet time. Others wait. Null for no limit'

const Payload = Type.Enum(['full', 'thin'], {
  description:
    '`thin`: `data` has only the `id` of the object, for receivers that fetch what they need',
})

const Recover = Type.Boolean({
  description: 'Whether it gets trial deliveries while it is disabled, so that it may recover',
})

const Health = Type.Object(
  {
    state: Type.Enum([...healthStates]),
    since: Time,
    reason: Nullable(Type.String({ description: 'Why, and what to do; null if it is healthy' })),
    retrying: Type.Integer({
      minimum: 0,
      description: `Deliveries with a failed attempt and a further one to come, of the ${countedDue.toLocaleString('en-GB')} that are due first`,
    }),
  },
  {
    description:
      'More than `status` says. `retrying`: the latest attempt failed and further ones follow, so that a failure is visible at once; `recovering`: it accepts deliveries again, and those that failed follow',
  },
)

const typesDescription = 'Types of events that are sent to it; null for all'

export const Endpoint = Type.Object(
  {
    id: Uuid,
    url: Type.String(),
    description: Nullable(Type.String()),
    eventTypes: Nullable(Type.Array(EventTypeName, { description: typesDescription })),
    signature: Signature,
    rateLimit: Nullable(
      Type.Object(
        { perSecond: Rate, burst: Rate },
        { title: 'RateLimit', description: rateDescription },
      ),
    ),
    payload: Payload,
    recoverWhenDisabled: Recover,
    status: Type.Enum(['active', 'failing', 'disabled', 'paused']),
    createdAt: Time,
    failingSince: Nullable(Time),
    disabledAt: Nullable(Time),
    pausedAt: Nullable(Time),
    health: Health,
    forecasts: Type.Array(
      Type.Object(
        { kind: Type.Enum(['certificate']), since: Time, message: Type.String() },
        { title: 'EndpointForecast' },
      ),
      {
        description: 'Warnings that it may fail soon: its certificate expires in less than 14 days',
      },
    ),
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
      maxItems: maxChosenTypes,
      uniqueItems: true,
      description: typesDescription,
    }),
  ),
  signature: Signature,
  rateLimit: Nullable(
    Type.Object(
      { perSecond: Rate, burst: Type.Optional(Rate) },
      { additionalProperties: false, description: `${rateDescription}. \`burst\` is 1 by default` },
    ),
  ),
  payload: Payload,
  recoverWhenDisabled: Recover,
}

export const NewEndpoint = Type.Object(
  {
    url: fields.url,
    description: Type.Optional(fields.description),
    eventTypes: Type.Optional(fields.eventTypes),
    signature: Type.Optional(fields.signature),
    rateLimit: Type.Optional(fields.rateLimit),
    payload: Type.Optional(fields.payload),
    recoverWhenDisabled: Type.Optional(fields.recoverWhenDisabled),
  },
  { title: 'NewWebhookEndpoint', additionalProperties: false },
)

export const EndpointChange = Type.Partial(Type.Object(fields), {
  title: 'WebhookEndpointChange',
  additionalProperties: false,
  minProperties: 1,
})

/** The rate limit of a body. */
export function readRateLimit(given: Type.Static<typeof fields.rateLimit>): RateLimit | null {
  return given && { burst: 1, ...given }
}

/** Why nothing is sent again, by the status of the endpoint. */
export const idleHints = {
  disabled: 'The endpoint is disabled. Enable it first: POST /webhook-endpoints/:id/enable',
  paused: 'The endpoint is paused. Resume it first: POST /webhook-endpoints/:id/resume',
}
