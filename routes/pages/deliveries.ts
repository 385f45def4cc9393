import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { found } from '#src/http/params.ts'
import { UuidParams } from '#src/http/schemas.ts'
import { SubmissionForm, submitOnce } from '#src/pages/form-submission.ts'
import { type DeliveryView, deliveryPage } from '#src/pages/webhooks/delivery.ts'
import { findDelivery, findSentRequest } from '#src/webhooks/delivery/deliveries.ts'
import { replayDelivery } from '#src/webhooks/delivery/replays.ts'

const Query = Type.Object(
  { done: Type.Optional(Type.String({ maxLength: 64 })) },
  { additionalProperties: false },
)

type Params = Static<typeof UuidParams>

const read = { access: { resource: 'delivery', action: 'read' } } as const
const replay = { access: { resource: 'delivery', action: 'replay' } } as const
const schema = { hide: true, params: UuidParams }

/** The page of one delivery and its replay button. */
const deliveries: FastifyPluginAsyncTypebox = async function deliveries(app) {
  app.get(
    '/app/deliveries/:id',
    { config: read, schema: { ...schema, querystring: Query } },
    showDelivery,
  )
  app.post(
    '/app/deliveries/:id/replay',
    { config: replay, schema: { ...schema, body: SubmissionForm } },
    replayOne,
  )
}

async function showDelivery(
  request: FastifyRequest<{ Params: Params; Querystring: Static<typeof Query> }>,
  reply: FastifyReply,
) {
  return sendDelivery(request, reply, { done: request.query.done, isDisabled: false })
}

async function replayOne(
  this: FastifyInstance,
  request: FastifyRequest<{ Params: Params; Body: Static<typeof SubmissionForm> }>,
  reply: FastifyReply,
) {
  const { params, tenantEntry, clientInfo } = request
  const now = this.clock.now()
  const location = await this.db.write(tenantEntry, (tx, caller) =>
    submitOnce(tx, caller, request, async () => {
      const delivery = found(await replayDelivery(tx, { ...caller, clientInfo }, params.id, now))
      if (delivery === 'disabled') return null
      return { path: `/app/deliveries/${delivery.id}?done=replayed` }
    }),
  )
  if (location !== null) return reply.redirect(location, 303)
  return sendDelivery(request, reply.code(409), { done: undefined, isDisabled: true })
}

async function sendDelivery(
  request: FastifyRequest<{ Params: Params }>,
  reply: FastifyReply,
  shown: Pick<DeliveryView, 'done' | 'isDisabled'>,
) {
  const { server, params, tenantEntry } = request
  const result = await server.db.read(tenantEntry, async (tx, caller) => {
    const delivery = found(await findDelivery(tx, caller, params.id))
    return { delivery, sent: found(await findSentRequest(tx, caller, delivery)) }
  })
  return reply.sendPage(deliveryPage({ viewer: request.viewer, ...result, ...shown }))
}

export default deliveries
