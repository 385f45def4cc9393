import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { isUniqueViolation } from '#src/db/errors.ts'
import { means, problems, Time, UuidParams } from '#src/http/schemas.ts'
import { AppTypeName, JsonData, requireShallow } from '#src/webhooks/events/app-schemas.ts'
import { createKnownTypes } from '#src/webhooks/events/app-types.ts'
import {
  type Checking,
  maxBatch,
  publishAppEvents,
  publishCompiled,
  publishShort,
} from '#src/webhooks/events/publish-app-events.ts'

const fields = {
  type: AppTypeName,
  data: means(JsonData, 'What has happened, as the schema of the type has it'),
  id: Type.Optional(
    Type.String({
      pattern: '^[0-9A-Za-z_-]{1,64}$',
      description:
        'Your id of the event, which its deliveries have as `webhook-id`; published again with the same type and data it has no second effect. Without it we choose one.',
    }),
  ),
}

const NewAppEvent = Type.Object(fields, { title: 'NewAppEvent', additionalProperties: false })

const NewAppEvents = Type.Object(
  {
    ...Type.Partial(Type.Object(fields)).properties,
    events: Type.Optional(
      Type.Array(NewAppEvent, {
        minItems: 1,
        maxItems: maxBatch,
        description: 'Several events instead of one: all are published or none.',
      }),
    ),
  },
  {
    title: 'NewAppEvents',
    additionalProperties: false,
    oneOf: [{ required: ['type', 'data'] }, { required: ['events'] }],
    not: { required: ['events', 'id'] },
  },
)

const Published = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'Its deliveries have it as `webhook-id`' }),
          type: Type.String({ description: 'As you gave it' }),
          createdAt: means(Time, 'When it was first published, in UTC'),
        },
        { title: 'PublishedEvent' },
      ),
      { description: 'The events in the order of the request' },
    ),
  },
  { title: 'PublishedEvents' },
)

/** The app publishes its events in the tenant that it names. */
const publish: FastifyPluginAsyncTypebox = async function publish(app) {
  const types = createKnownTypes()
  const checks = app.schemaChecks
  app.post(
    '/tenants/:id/events',
    {
      config: {
        namesTenant: true,
        idempotencyKey: true,
        decidesInWrite: true,
        access: { resource: 'event', action: 'publish' },
      },
      schema: {
        operationId: 'publishEvents',
        tags: ['app'],
        summary: 'Publish an event of your app to a tenant, or up to 100',
        description:
          'The events and their deliveries are stored in one commit, and sent like all others to the endpoints of the tenant that have chosen the type. The type must be registered (`PUT /event-types/{name}`), and `data` must match its schema. If one event of several is wrong, none is published and each fault is named. 409 if an id belongs to another event, or if the tenant has used up its storage for events.',
        params: UuidParams,
        body: NewAppEvents,
        response: { 201: Published, ...problems('conflict', 'quota-exceeded') },
      },
    },
    async (request, reply) => {
      requireShallow(request.body)
      const now = app.clock.now()
      const { events, pointerOf } = eventsOf(request.body)
      const checking: Checking = { types, checks, pointerOf }
      const write = () =>
        app.db.write(request.tenantPrincipalEntry, {
          short: (caller) => publishShort(caller, events, checking, now),
          whole: (tx, caller) => publishAppEvents(tx, caller, events, checking, now),
        })
      const tenant = { tenantId: request.params.id }
      const publish = () => publishCompiled(tenant, checks, write)
      const { published, isReplay } = await publish().catch((error) => {
        // Another request has published the same id since this one looked: it is known now.
        if (isUniqueViolation(error)) return publish()
        throw error
      })
      if (isReplay) markReplayed(request)
      return reply.code(201).send({ data: published })
    },
  )
}

function eventsOf({ events, type, data, id }: Static<typeof NewAppEvents>) {
  if (events !== undefined) return { events, pointerOf: (index: number) => `/events/${index}` }
  // The schema has one of the two forms.
  if (type === undefined || data === undefined) throw new Error('The schema let no event through.')
  return { events: [{ type, data, id }], pointerOf: () => '' }
}

function markReplayed(request: FastifyRequest): void {
  request.isReplayed = true
}

export default publish
