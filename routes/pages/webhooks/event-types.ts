import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { found } from '#src/http/params.ts'
import { eventTypeListPage, eventTypePage } from '#src/pages/webhooks/event-types.ts'
import { EventTypeName } from '#src/webhooks/endpoints/schemas.ts'
import { findAppType, summarizeAppTypes } from '#src/webhooks/events/app-types.ts'
import { isOwnType } from '#src/webhooks/events/types.ts'

const Params = Type.Object({ name: EventTypeName }, { additionalProperties: false })

const hide = true
const config = { access: { resource: 'event', action: 'read' } } as const

/** The catalogue of event types, for those who write a receiver: the program's and the app's. */
const eventTypes: FastifyPluginAsyncTypebox = async function eventTypes(app) {
  app.get('/event-types', { config, schema: { hide } }, async (request, reply) => {
    const appTypes = await app.db.read(request.tenantPrincipalEntry, (tx) => summarizeAppTypes(tx))
    return reply.sendPage(eventTypeListPage(request.viewer, appTypes))
  })
  app.get(
    '/event-types/:name',
    { config, schema: { hide, params: Params } },
    async (request, reply) => {
      const { name } = request.params
      const type = await app.db.read(request.tenantPrincipalEntry, async (tx) =>
        isOwnType(name) ? name : found(await findAppType(tx, name)),
      )
      return reply.sendPage(eventTypePage(request.viewer, type))
    },
  )
}

export default eventTypes
