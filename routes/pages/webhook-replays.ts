import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { found } from '#src/http/params.ts'
import { Uuid } from '#src/http/schemas.ts'
import { progressOf, replayPage } from '#src/pages/webhooks/forms.ts'
import { type EndpointReplay, findReplay } from '#src/webhooks/delivery/replays.ts'

const Params = Type.Object({ id: Uuid, replayId: Uuid }, { additionalProperties: false })
const access = { resource: 'delivery', action: 'read' } as const
const path = '/app/webhooks/:id/replays/:replayId'

/** How a replay of a range comes along, as a page and as the events its script follows. */
const webhookReplays: FastifyPluginAsyncTypebox = async function webhookReplays(app) {
  const hidden = { hide: true, params: Params } as const

  app.get(path, { config: { access }, schema: hidden }, async (request, reply) => {
    const { params, viewer, tenantScope } = request
    const replay = found(await read(tenantScope, params))
    return reply.sendLivePage(replayPage(viewer, replay))
  })

  app.get(
    `${path}/events`,
    { config: { access }, schema: hidden, exposeHeadRoute: false },
    async (request, reply) => {
      const { params, tenantScope } = request
      found(await read(tenantScope, params))
      return reply.streamEvents(tenantScope.tenantId, async () => {
        const data = progressOf(await read(tenantScope, params))
        return { name: 'progress', data, isLast: data.isLast }
      })
    },
  )

  function read(
    scope: { userId: number; tenantId: string },
    { id: endpointId, replayId: id }: Type.Static<typeof Params>,
  ): Promise<EndpointReplay | null> {
    return app.db.read(scope, (tx) => findReplay(tx, scope, { endpointId, id }))
  }
}

export default webhookReplays
