import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { found } from '#src/http/params.ts'
import { UuidParams } from '#src/http/schemas.ts'
import { type DeliveryView, deliveryPage } from '#src/pages/webhooks/delivery.ts'
import { findDelivery, findSentRequest } from '#src/webhooks/delivery/deliveries.ts'
import { replayDelivery } from '#src/webhooks/delivery/replays.ts'

const Query = Type.Object(
  { done: Type.Optional(Type.String({ maxLength: 64 })) },
  { additionalProperties: false },
)

/** One delivery as a page, and its button. */
const deliveries: FastifyPluginAsyncTypebox = async function deliveries(app) {
  const hidden = { hide: true, params: UuidParams } as const

  app.get(
    '/app/deliveries/:id',
    {
      config: { access: { resource: 'delivery', action: 'read' } },
      schema: { ...hidden, querystring: Query },
    },
    async (request, reply) => {
      const { params, query } = request
      return show(request, reply, params.id, { done: query.done, isDisabled: false })
    },
  )

  app.post(
    '/app/deliveries/:id/replay',
    { config: { access: { resource: 'delivery', action: 'replay' } }, schema: hidden },
    async (request, reply) => {
      const { params, actor: by } = request
      const now = app.clock.now()
      const delivery = found(await app.db.write(by, (tx) => replayDelivery(tx, by, params.id, now)))
      if (delivery === 'disabled') {
        return show(request, reply.code(409), params.id, { done: undefined, isDisabled: true })
      }
      return reply.redirect(`/app/deliveries/${delivery.id}?done=replayed`, 303)
    },
  )

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    id: string,
    shown: Pick<DeliveryView, 'done' | 'isDisabled'>,
  ) {
    const { viewer, tenantScope: scope } = request
    const seen = await app.db.read(scope, async (tx) => {
      const delivery = found(await findDelivery(tx, scope, id))
      return { delivery, sent: found(await findSentRequest(tx, scope, delivery)) }
    })
    return reply.sendPage(deliveryPage({ viewer, ...seen, ...shown }))
  }
}

export default deliveries
