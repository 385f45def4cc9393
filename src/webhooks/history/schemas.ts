import Type from 'typebox'
import { OwnUuid } from '#src/http/fields.ts'
import { Line, means, Nullable, Time, Uuid } from '#src/http/schemas.ts'
import { EventTypeName } from '#src/webhooks/endpoints/schemas.ts'
import { deliveryStates, deliveryStatuses, maxShownAttempts } from './deliveries.ts'
import { httpStatusPattern } from './filter.ts'

export const DeliveryStatusName = Type.Enum([...deliveryStatuses], {
  title: 'DeliveryStatus',
  description:
    '`pending`: further attempts follow; `succeeded`: a response had a 2xx status; `exhausted`: no attempt follows by itself, and a replay sends it again',
})

export const EventIdFilter = Type.String({
  ...Line(64),
  description: 'Of the event with this id, which its deliveries have as `webhook-id`',
  examples: ['msg_9f0c1d2e-3b4a-4c5d-8e6f-7a8b9c0d1e2f'],
})
export const HttpStatusFilter = Type.String({
  maxLength: 4,
  pattern: httpStatusPattern,
  examples: ['4xx'],
  description:
    'Of the latest attempt: a status (`404`), a class (`4xx`), or `none` for no response',
})

export const Delivery = Type.Object(
  {
    id: OwnUuid,
    eventId: Type.String({ description: 'Also the `webhook-id` header and the `id` in the body' }),
    eventType: EventTypeName,
    endpointId: means(Uuid, 'The endpoint that it goes to'),
    status: DeliveryStatusName,
    health: Type.Object(
      {
        state: Type.Enum([...deliveryStates], { description: 'How far it is' }),
        failedAttempts: Type.Integer({
          minimum: 0,
          description: 'Of the latest series; a replay begins the next one',
        }),
      },
      {
        title: 'DeliveryHealth',
        description:
          'More than `status` says of a pending delivery: `waiting` for its first attempt, `retrying` after a failed one, or `paused` with its endpoint',
      },
    ),
    createdAt: means(Time, 'When the event happened, in UTC'),
    nextAttemptAt: Nullable(
      means(Time, 'When the next attempt is due; null if none follows or its endpoint is paused'),
    ),
    attempts: Type.Array(
      Type.Object(
        {
          series: Type.Integer({
            description: '0 is the schedule; every replay begins the next one',
          }),
          number: Type.Integer({ description: 'In its series, from 1' }),
          startedAt: means(Time, 'When it began, in UTC'),
          durationMs: Type.Integer({ description: 'Milliseconds until the response or the error' }),
          statusCode: Nullable(
            Type.Integer({ description: 'Of the response; null if there was none' }),
          ),
          error: Nullable(Type.String({ description: 'Why there was no complete response' })),
          explanation: Nullable(
            Type.String({ description: 'Why it failed and what to do; null if it succeeded' }),
          ),
          responseExcerpt: Nullable(
            Type.String({ description: 'The first 2 KiB of the response; null if there was none' }),
          ),
        },
        { title: 'DeliveryAttempt' },
      ),
      { description: `In order; the newest ${maxShownAttempts}` },
    ),
  },
  { title: 'Delivery' },
)
