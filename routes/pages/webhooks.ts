import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { type WebhooksView, webhooksPage } from '#src/pages/webhooks/endpoints.ts'
import { EndpointFields, readFields } from '#src/pages/webhooks/forms.ts'
import type { SignatureProfile } from '#src/webhooks/delivery/signature.ts'
import { listNotifications } from '#src/webhooks/endpoints/alerts.ts'
import { createEndpoint, listEndpoints, maxEndpoints } from '#src/webhooks/endpoints/endpoints.ts'
import { measureEndpoints } from '#src/webhooks/endpoints/stats.ts'

type Options = {
  keys: EncryptionKeys
  /** Profile that the form offers first. */
  signature: SignatureProfile
}

const everyEndpoint = { limit: maxEndpoints, after: null }
const shownNotifications = { limit: 5, after: null }

const Query = Type.Object(
  { done: Type.Optional(Type.String({ maxLength: 64 })) },
  { additionalProperties: false },
)

/** The webhook endpoints of a tenant as a page, and the form that registers one. */
const webhooks: FastifyPluginAsyncTypebox<Options> = async function webhooks(
  app,
  { keys, signature },
) {
  const hidden = { hide: true } as const

  app.get(
    '/app/webhooks',
    {
      config: { access: { resource: 'webhook-endpoint', action: 'read' } },
      schema: { ...hidden, querystring: Query },
    },
    async (request, reply) => show(request, reply, { done: request.query.done }),
  )

  app.post(
    '/app/webhooks',
    {
      config: { access: { resource: 'webhook-endpoint', action: 'create' } },
      schema: { ...hidden, body: EndpointFields },
    },
    async (request, reply) => {
      const by = request.actor
      const facts = readFields(request.body)
      const judged = await app.judgeCustomerUrl(facts.url, request.log)
      if ('fault' in judged) {
        return show(request, reply.code(400), { draft: { ...facts, urlFault: judged.fault } })
      }
      const made = { keys, now: app.clock.now() }
      const endpoint = await app.db.write(by, (tx) =>
        createEndpoint(tx, by, { ...facts, url: judged.url }, made),
      )
      if (endpoint === null) {
        const fault = `A tenant has at most ${maxEndpoints} endpoints. Remove one first.`
        return show(request, reply.code(409), { fault, draft: { ...facts, urlFault: null } })
      }
      const { id: endpointId, url, secret } = endpoint
      const note = 'Then open the endpoint and send it a test.'
      return show(request, reply, { newSecret: { endpointId, url, secret, note } })
    },
  )

  const empty = { url: '', description: null, eventTypes: null, signature, urlFault: null }

  /** One transaction for all that the page shows. */
  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    { draft = empty, done, fault = null, newSecret = null }: Partial<WebhooksView>,
  ) {
    const { viewer, tenantScope: scope } = request
    const now = app.clock.now()
    const found = await app.db.read(scope, async (tx) => ({
      endpoints: (await listEndpoints(tx, scope, everyEndpoint)).data,
      stats: await measureEndpoints(tx, scope, now),
      notifications: (await listNotifications(tx, scope, shownNotifications)).data,
    }))
    return reply.sendPage(webhooksPage({ viewer, ...found, draft, done, fault, newSecret }))
  }
}

export default webhooks
