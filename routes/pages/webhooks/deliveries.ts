import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { found } from '#src/http/params.ts'
import { UuidParams } from '#src/http/schemas.ts'
import { SubmissionForm } from '#src/pages/kit/form-submission.ts'
import { doneQuery } from '#src/pages/kit/layout.ts'
import { type DeliveryView, deliveryPage } from '#src/pages/webhooks/delivery.ts'
import { signatureForm } from '#src/pages/webhooks/signature-check.ts'
import { unixSeconds } from '#src/runtime/clock.ts'
import { findEndpointSecrets } from '#src/webhooks/endpoints/endpoints.ts'
import { deliveryActions } from '#src/webhooks/history/actions.ts'
import { findDelivery, findSentRequest } from '#src/webhooks/history/deliveries.ts'
import { checkSignature } from '#src/webhooks/signing/check-signature.ts'
import { openEndpointSecrets } from '#src/webhooks/signing/secrets.ts'

const Query = Type.Object(doneQuery, { additionalProperties: false })

type Params = Static<typeof UuidParams>

const read = { access: { resource: 'delivery', action: 'read' } } as const
const schema = { hide: true, params: UuidParams }

type Options = { keys: EncryptionKeys; retrySeconds: readonly number[] }

/** The page of one delivery, its replay button and its signature checker. */
const deliveries: FastifyPluginAsyncTypebox<Options> = async function deliveries(
  app,
  { keys, retrySeconds },
) {
  app.get(
    '/deliveries/:id',
    { config: read, schema: { ...schema, querystring: Query } },
    async (request, reply) =>
      sendDelivery(request, reply, { done: request.query.done, retrySeconds }),
  )
  app.form('/deliveries/:id/replay', deliveryActions.replay, {
    entryOf: ({ tenantPrincipalEntry }: FastifyRequest) => tenantPrincipalEntry,
    to: '/deliveries/:id',
    notice: 'replayed',
    fields: SubmissionForm,
    again: (request, reply) => sendDelivery(request, reply, { isDisabled: true, retrySeconds }),
  })
  // Compares the request that a receiver got with the one that was sent. Nothing is stored.
  app.post(
    '/deliveries/:id/check',
    { config: read, schema: { ...schema, body: signatureForm.schema } },
    async (request, reply) => {
      const { headers, secret, body } = request.body
      const now = app.clock.now()
      const received = { headers, body, secret: secret === '' ? null : secret }
      const { delivery, sent, endpoint } = await readDelivery(request)
      const secrets = openEndpointSecrets(keys, endpoint, now)
      const signed = { id: delivery.eventId, body: sent.body, profile: sent.profile, secrets }
      const result = checkSignature(received, signed, unixSeconds(app.clock))
      const view = { delivery, sent, retrySeconds, checked: { headers, body, result } }
      return reply.sendPage(
        deliveryPage({ viewer: request.viewer, done: undefined, isDisabled: false, ...view }),
      )
    },
  )
}

async function sendDelivery(
  request: FastifyRequest<{ Params: Params }>,
  reply: FastifyReply,
  shown: Pick<DeliveryView, 'retrySeconds'> & Partial<Pick<DeliveryView, 'done' | 'isDisabled'>>,
) {
  const { delivery, sent } = await readDelivery(request)
  const { retrySeconds, done, isDisabled = false } = shown
  const view = { delivery, sent, retrySeconds, done, isDisabled, checked: null }
  return reply.sendPage(deliveryPage({ viewer: request.viewer, ...view }))
}

async function readDelivery({
  server,
  params,
  tenantPrincipalEntry,
}: FastifyRequest<{ Params: Params }>) {
  return server.db.read(tenantPrincipalEntry, async (tx, caller) => {
    const delivery = found(await findDelivery(tx, caller, params.id))
    const [sent, endpoint] = await Promise.all([
      findSentRequest(tx, caller, delivery),
      findEndpointSecrets(tx, caller, delivery.endpointId),
    ])
    return { delivery, sent: found(sent), endpoint: found(endpoint) }
  })
}

export default deliveries
