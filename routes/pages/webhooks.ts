import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { type WebhooksView, webhooksPage } from '#src/pages/webhooks/endpoints.ts'
import { EndpointFields, readFields } from '#src/pages/webhooks/forms.ts'
import type { SignatureProfile } from '#src/webhooks/delivery/signature.ts'
import { listNotifications } from '#src/webhooks/endpoints/alerts.ts'
import { createEndpoint, listEndpoints, maxEndpoints } from '#src/webhooks/endpoints/endpoints.ts'
import { measureEndpoints } from '#src/webhooks/endpoints/stats.ts'

type Options = {
  keys: EncryptionKeys
  /** The profile that the form preselects. */
  signature: SignatureProfile
}

const allEndpoints = { limit: maxEndpoints, after: null }
const shownNotifications = { limit: 5, after: null }

const Query = Type.Object(
  { done: Type.Optional(Type.String({ maxLength: 64 })) },
  { additionalProperties: false },
)

const hide = true
const read = { access: { resource: 'webhook-endpoint', action: 'read' } } as const
const create = { access: { resource: 'webhook-endpoint', action: 'create' } } as const

/** The page of a tenant's webhook endpoints, with the form that adds one. */
const webhooks: FastifyPluginAsyncTypebox<Options> = async function webhooks(app, options) {
  app.get(
    '/app/webhooks',
    { config: read, schema: { hide, querystring: Query } },
    showEndpoints(options),
  )
  app.post(
    '/app/webhooks',
    { config: create, schema: { hide, body: EndpointFields } },
    addEndpoint(options),
  )
}

function showEndpoints(options: Options) {
  return async (
    request: FastifyRequest<{ Querystring: Static<typeof Query> }>,
    reply: FastifyReply,
  ) => sendEndpoints(request, reply, options, { done: request.query.done })
}

function addEndpoint(options: Options) {
  return async function addEndpoint(
    this: FastifyInstance,
    request: FastifyRequest<{ Body: Static<typeof EndpointFields> }>,
    reply: FastifyReply,
  ) {
    const { tenantEntry, clientInfo, body, log } = request
    const facts = readFields(body)
    const checked = await this.judgeCustomerUrl(facts.url, log)
    if ('fault' in checked) {
      const draft = { ...facts, urlFault: checked.fault }
      return sendEndpoints(request, reply.code(400), options, { draft })
    }
    const creation = { keys: options.keys, now: this.clock.now() }
    const endpoint = await this.db.write(tenantEntry, (tx, caller) =>
      createEndpoint(tx, { ...caller, clientInfo }, { ...facts, url: checked.url }, creation),
    )
    if (endpoint === null) {
      const fault = `A tenant can have at most ${maxEndpoints} endpoints. Delete one first.`
      const draft = { ...facts, urlFault: null }
      return sendEndpoints(request, reply.code(409), options, { fault, draft })
    }
    const { id: endpointId, url, secret } = endpoint
    const note = 'Then open the endpoint and send a test event.'
    return sendEndpoints(request, reply, options, { newSecret: { endpointId, url, secret, note } })
  }
}

/** Reads everything the page shows in one transaction. */
async function sendEndpoints(
  request: FastifyRequest,
  reply: FastifyReply,
  { signature }: Options,
  { draft, done, fault = null, newSecret = null }: Partial<WebhooksView>,
) {
  const { server, tenantEntry } = request
  const now = server.clock.now()
  const result = await server.db.read(tenantEntry, async (tx, caller) => {
    const [endpoints, stats, notifications] = await Promise.all([
      listEndpoints(tx, caller, allEndpoints),
      measureEndpoints(tx, caller, now),
      listNotifications(tx, caller, shownNotifications),
    ])
    return { endpoints: endpoints.data, stats, notifications: notifications.data }
  })
  const empty = { url: '', description: null, eventTypes: null, signature, urlFault: null }
  const { viewer } = request
  return reply.sendPage(
    webhooksPage({ viewer, ...result, draft: draft ?? empty, done, fault, newSecret }),
  )
}

export default webhooks
