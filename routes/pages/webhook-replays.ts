import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { found } from '#src/http/params.ts'
import { Uuid } from '#src/http/schemas.ts'
import { progressOf, replayPage } from '#src/pages/webhooks/forms.ts'
import { type EndpointReplay, findReplay } from '#src/webhooks/delivery/replays.ts'

const Params = Type.Object({ id: Uuid, replayId: Uuid }, { additionalProperties: false })

type ReplayRequest = FastifyRequest<{ Params: Static<typeof Params> }>

const config = { access: { resource: 'delivery', action: 'read' } } as const
const schema = { hide: true, params: Params }
const path = '/app/webhooks/:id/replays/:replayId'

/** The progress of a replay: a page, and the event stream that updates it. */
const webhookReplays: FastifyPluginAsyncTypebox = async function webhookReplays(app) {
  app.get(path, { config, schema }, showReplay)
  app.get(`${path}/events`, { config, schema, exposeHeadRoute: false }, streamReplay)
}

async function showReplay(request: ReplayRequest, reply: FastifyReply) {
  const { replay } = await readReplay(request)
  return reply.sendLivePage(replayPage(request.viewer, replay))
}

/** Every read enters again, so the stream ends with the session or the right to see the replay. */
async function streamReplay(request: ReplayRequest, reply: FastifyReply) {
  const { tenantId } = await readReplay(request)
  return reply.streamEvents(tenantId, async () => {
    const data = progressOf((await readReplay(request)).replay)
    return { name: 'progress', data, isLast: data.isLast }
  })
}

async function readReplay({ server, params, tenantEntry }: ReplayRequest) {
  const { id: endpointId, replayId: id } = params
  return server.db.read(tenantEntry, async (tx, caller) => {
    const replay: EndpointReplay = found(await findReplay(tx, caller, { endpointId, id }))
    return { replay, tenantId: caller.tenantId }
  })
}

export default webhookReplays
