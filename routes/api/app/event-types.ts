import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { readPage } from '#src/http/lists/pagination.ts'
import { PageOf, PageQuery, problems } from '#src/http/schemas.ts'
import {
  AppType,
  AppTypeChange,
  AppTypeName,
  requireShallow,
} from '#src/webhooks/events/app-schemas.ts'
import {
  appTypeList,
  listAppTypes,
  maxAppTypes,
  putAppType,
} from '#src/webhooks/events/app-types.ts'

const NameParams = Type.Object({ name: AppTypeName }, { additionalProperties: false })

const tags = ['app']

/** The types of the events that the app publishes. */
const eventTypes: FastifyPluginAsyncTypebox = async function eventTypes(app) {
  app.get(
    '/event-types',
    {
      exposeHeadRoute: false,
      config: { access: { resource: 'event-type', action: 'read' } },
      schema: {
        operationId: 'listEventTypes',
        tags,
        summary: 'The event types of your app, by name',
        querystring: PageQuery,
        response: { 200: PageOf(AppType) },
      },
    },
    async (request) => {
      const page = readPage(request.query, appTypeList.name, appTypeList.forms)
      return app.db.read(request.principalEntry, (tx) => listAppTypes(tx, page))
    },
  )

  app.put(
    '/event-types/:name',
    {
      config: { access: { resource: 'event-type', action: 'update' } },
      schema: {
        operationId: 'putEventType',
        tags,
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
