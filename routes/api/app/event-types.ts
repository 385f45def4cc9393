import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { problems } from '#src/http/schemas.ts'
import { listEventTypes } from '#src/webhooks/events/actions.ts'
import {
  AppType,
  AppTypeChange,
  AppTypeName,
  requireShallow,
} from '#src/webhooks/events/app-schemas.ts'
import { maxAppTypes, putAppType } from '#src/webhooks/events/app-types.ts'

const NameParams = Type.Object({ name: AppTypeName }, { additionalProperties: false })

/** The types of the events that the app publishes. Putting one tries its schema between two transactions. */
const eventTypes: FastifyPluginAsyncTypebox = async function eventTypes(app) {
  app.api('GET /event-types', listEventTypes, {
    entryOf: ({ principalEntry }: FastifyRequest) => principalEntry,
    head: false,
  })

  app.put(
    '/event-types/:name',
    {
      config: { access: { resource: 'event-type', action: 'update' } },
      schema: {
        operationId: 'putEventType',
        tags: ['app'],
        summary: 'Register an event type of your app, or replace its description',
        description: `An event of the type is checked against the schema when it is published. Events that were published before stay as they are. 409 for a type of this program itself, or if there are ${maxAppTypes} types.`,
        params: NameParams,
        body: AppTypeChange,
        response: { 200: AppType, 201: AppType, ...problems('conflict') },
      },
    },
    async (request, reply) => {
      const { params, body } = request
      requireShallow(body)
      const now = app.clock.now()
      const facts = { schema: null, example: null, ...body }
      // Decided before and after the schema is compiled, which takes long and holds no connection.
      await app.db.read(request.principalEntry)
      if (facts.schema) await app.schemaChecks.requireUsable(facts.schema, facts.example)
      const { type, isNew } = await app.db.write(request.principalEntry, (tx) =>
        putAppType(tx, params.name, facts, now),
      )
      return reply.code(isNew ? 201 : 200).send(type)
    },
  )
}

export default eventTypes
