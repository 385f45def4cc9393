import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { findOwnLedgerState } from '#src/ledger/last-check.ts'
import { doneQuery } from '#src/pages/kit/layout.ts'
import { newEndpointPage, type RetryFacts, webhooksPage } from '#src/pages/webhooks/endpoints.ts'
import { newEndpointForm, readFields } from '#src/pages/webhooks/forms.ts'
import {
  createEndpoint,
  type EndpointRefusal,
  endpointRefusals,
  listEndpoints,
  maxEndpoints,
} from '#src/webhooks/endpoints/endpoints.ts'
import { listAppTypeNames } from '#src/webhooks/events/app-types.ts'
import { tallyDays } from '#src/webhooks/events/tally.ts'
import { listNotifications } from '#src/webhooks/health/alerts.ts'
import { measureEndpoints } from '#src/webhooks/history/stats.ts'
import type { SignatureProfile } from '#src/webhooks/signing/signature.ts'

type Options = {
  keys: EncryptionKeys
  /** The profile that the form preselects. */
  signature: SignatureProfile
  /** What the page says about retries. */
  schedule: RetryFacts
}

const allEndpoints = { limit: maxEndpoints, after: null }
const shownNotifications = { limit: 5, after: null }

const Query = Type.Object(doneQuery, { additionalProperties: false })

const hide = true
const read = { access: { resource: 'webhook-endpoint', action: 'read' } } as const
const create = { access: { resource: 'webhook-endpoint', action: 'create' } } as const

/** The page of a tenant's webhook endpoints, and the one that adds one. */
const webhooks: FastifyPluginAsyncTypebox<Options> = async function webhooks(app, options) {
  app.get(
    '/webhooks',
    { config: read, schema: { hide, querystring: Query } },
    async (request, reply) => sendEndpoints(request, reply),
  )
  app.get('/webhooks/new', { config: create, schema: { hide } }, async (request, reply) =>
    sendForm(request, reply, options),
  )
  app.post(
    '/webhooks/new',
    { config: create, schema: { hide, body: newEndpointForm.schema } },
    async (request, reply) => {
      const { tenantPrincipalEntry, clientInfo, body, log } = request
      const facts = readFields(body)
      const checked = await app.judgeCustomerUrl(facts.url, log)
      if ('fault' in checked) {
        request.showAgain(body, { faults: [['url', checked.fault]] })
        return sendForm(request, reply.code(400), options)
      }
      const creation = { keys: options.keys, now: app.clock.now() }
      const wanted = { ...facts, url: checked.url }
      let refused: EndpointRefusal = 'full'
      const location = await app.db.write(tenantPrincipalEntry, (tx, caller) =>
        request.submitOnce(tx, caller, async () => {
          const made = await createEndpoint(tx, { ...caller, clientInfo }, wanted, creation)
          if (typeof made === 'string') {
            refused = made
            return null
          }
          const secret = { secret: made.secret, note: null }
          return { path: `${app.prefix}/webhooks/${made.id}?done=created`, secret }
        }),
      )
      if (location === null) {
        request.showAgain(body, { reason: endpointRefusals[refused] })
        return sendForm(request, reply.code(409), options)
      }
      return reply.redirect(location, 303)
    },
  )
}

/** Reads everything the page shows in one transaction. */
async function sendEndpoints(
  request: FastifyRequest<{ Querystring: Static<typeof Query> }>,
  reply: FastifyReply,
) {
  const { server, tenantPrincipalEntry, query } = request
  const now = server.clock.now()
  const result = await server.db.read(tenantPrincipalEntry, async (tx, caller) => {
    const [endpoints, stats, notifications, days, ledger] = await Promise.all([
      listEndpoints(tx, caller, allEndpoints),
      measureEndpoints(tx, caller, now),
      listNotifications(tx, caller, shownNotifications),
      tallyDays(tx, caller, now),
      findOwnLedgerState(tx),
    ])
    const shown = { stats, days, ledger }
    return { ...shown, endpoints: endpoints.data, notifications: notifications.data }
  })
  const { viewer } = request
  return reply.sendPage(webhooksPage({ viewer, ...result, done: query.done }))
}

async function sendForm(
  request: FastifyRequest,
  reply: FastifyReply,
  { signature, schedule }: Options,
) {
  const { server, tenantPrincipalEntry } = request
  const appTypes = await server.db.read(tenantPrincipalEntry, (tx) => listAppTypeNames(tx))
  const { viewer } = request
  return reply.sendPage(newEndpointPage({ viewer, appTypes, signature, schedule }))
}

export default webhooks
