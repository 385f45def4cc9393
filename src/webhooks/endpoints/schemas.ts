import Type from 'typebox'
import { CreatedAt, OwnUuid } from '#src/http/fields.ts'
import { Line, means, Nullable, Time } from '#src/http/schemas.ts'
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
const PerSecond = means(Rate, 'Deliveries that begin in a second, at most')
const Burst = means(Rate, 'Deliveries that begin at once after a quiet time, at most')
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
    state: Type.Enum([...healthStates], { description: 'How it is now' }),
    since: means(Time, 'When this state began, in UTC'),
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
    id: OwnUuid,
    url: Type.String({ description: 'Where its events are sent to' }),
    description: Nullable(Type.String({ description: 'For people; null for none' })),
    eventTypes: Nullable(Type.Array(EventTypeName, { description: typesDescription })),
    signature: Signature,
    rateLimit: Nullable(
      Type.Object(
        { perSecond: PerSecond, burst: Burst },
        { title: 'RateLimit', description: rateDescription },
      ),
    ),
    payload: Payload,
    recoverWhenDisabled: Recover,
    status: Type.Enum(['active', 'failing', 'disabled', 'paused'], {
      description:
        '`failing`: a delivery was exhausted, and others are tried; `disabled`: nothing is sent after failing for long; `paused` by somebody',
    }),
    createdAt: CreatedAt,
    failingSince: Nullable(means(Time, 'When it began to fail; null if it does not fail')),
    disabledAt: Nullable(means(Time, 'When it was disabled; null if it is not')),
    pausedAt: Nullable(means(Time, 'When it was paused; null if it is not')),
    health: Health,
    forecasts: Type.Array(
      Type.Object(
        {
          kind: Type.Enum(['certificate'], { description: 'What will fail' }),
          since: means(Time, 'When it was found, in UTC'),
          message: Type.String({ description: 'What will happen and when, for people' }),
        },
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
  description: Nullable(Line(500, 'For people; null for none')),
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
      { perSecond: PerSecond, burst: Type.Optional(Burst) },
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
