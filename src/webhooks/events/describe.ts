import Type, { type TSchema } from 'typebox'
import { type ApiDescription, exampleOf, type Schema } from '#src/http/openapi/examples.ts'
import { means, Time } from '#src/http/schemas.ts'
import type { EventKind, EventType } from './types.ts'

/** The schema of the whole event as it is sent. */
export function eventSchema<Name extends EventType, Data extends TSchema>({
  type,
  summary,
  data,
}: EventKind<Name, Data>) {
  return Type.Object(
    {
      id: Type.String({
        description: 'Also the header `webhook-id`; the same in every attempt',
        examples: ['msg_p5jXN8AQM9LWM0D4loKWxJek'],
      }),
      type: Type.Literal(type, { description: 'What has happened' }),
      createdAt: means(Time, 'When it happened, in UTC'),
      data: means(data, 'What it happened to; with the payload `thin` only its `id`'),
    },
    { title: `${nameOf(type)}Event`, description: summary },
  )
}

/** The schema of the whole event, and an event that is valid for it. */
export function documentEvent(kind: EventKind): { schema: Schema; example: unknown } {
  const schema = toSchema(eventSchema(kind))
  return { schema, example: exampleOf(schema) }
}

/** An event of the app with this `data`, as it is sent. */
export function exampleEvent(type: string, data: object): object {
  return { id: examples['webhook-id'], type, createdAt: exampleOf(Time), data }
}

/** Any event; its type says which one. */
export function eventUnion(kinds: readonly EventKind[]): Schema {
  const mapping = kinds.map(({ type }) => [type, `#/components/schemas/${nameOf(type)}Event`])
  return {
    title: 'Event',
    oneOf: kinds.map((kind) => toSchema(eventSchema(kind))),
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(mapping) },
  }
}

const headers = [
  ['webhook-id', 'Id of the event, the same in every attempt', 'string'],
  ['webhook-timestamp', 'Unix time of this attempt in seconds', 'integer'],
  ['webhook-signature', '`v1,<base64>`, several separated by a space', 'string'],
] as const

const examples = {
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': 1_614_265_330,
  'webhook-signature': 'v1,LjffXUoCjFGn8xM9ZK4eMA0sLJAPGx1J1Daa0lMPiWQ=',
}

/** The webhooks of the API description (OpenAPI 3.1), one for each type of event. */
export function describeWebhooks(
  kinds: readonly EventKind[],
): NonNullable<ApiDescription['webhooks']> {
  const entries = kinds.map((kind) => {
    const { type, summary } = kind
    const { schema, example } = documentEvent(kind)
    const post = {
      operationId: `on${nameOf(type)}`,
      tags: ['webhooks'],
      summary,
      description:
        'Sent to every webhook endpoint of the tenant that has chosen the type. Verify the signature over the raw body before you parse it.',
      security: [],
      parameters: headers.map(([name, description, of]) => ({
        name,
        in: 'header',
        required: true,
        description,
        schema: { type: of },
        example: examples[name],
      })),
      requestBody: {
        required: true,
        content: { 'application/json': { schema, example } },
      },
      responses: {
        '2XX': { description: 'Delivered' },
        '4XX': { description: 'Not delivered: the next attempt follows the schedule' },
        '5XX': { description: 'Not delivered: the next attempt follows the schedule' },
      },
    }
    return [type, { post }]
  })
  return Object.fromEntries(entries)
}

/** A copy without TypeBox's marks, which are no part of JSON Schema. */
function toSchema(schema: TSchema): Schema {
  return JSON.parse(JSON.stringify(schema))
}

/** `InvoiceUpdated` for `invoice.updated`. */
function nameOf(type: EventType): string {
  return type.replaceAll(/(?:^|\.)(\w)/g, (_all, letter: string) => letter.toUpperCase())
}
