import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { NoBody, Nullable, problems, UuidParams } from '#src/http/schemas.ts'
import { pauseActions } from '#src/webhooks/delivery/held/pause.ts'
import {
  deleteWebhookEndpoint,
  type EndpointSettings,
  enableWebhookEndpoint,
  endpointActions,
  getWebhookEndpoint,
  listWebhookEndpoints,
  tenantEndpointActions,
} from '#src/webhooks/endpoints/actions.ts'
import {
  changeEndpoint,
  endpointRefusals,
  findEndpoint,
  lockEndpoint,
} from '#src/webhooks/endpoints/endpoints.ts'
import { Endpoint, EndpointChange, readRateLimit } from '#src/webhooks/endpoints/schemas.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import { Delivery } from '#src/webhooks/history/schemas.ts'
import { getWebhookEndpointProbe } from '#src/webhooks/probe/actions.ts'
import { probeEndpoint, probeEveryHours } from '#src/webhooks/probe/probe.ts'
import { ProbeReport } from '#src/webhooks/probe/schemas.ts'
import { sendTest, testType } from '#src/webhooks/probe/test-event.ts'

const TestedType = Type.Enum([...eventTypes], {
  title: 'EventType',
  description: 'Whose example is sent; by default `endpoint.test`',
})
const OptionalTest = Nullable(
  Type.Object(
    { type: Type.Optional(TestedType) },
    { title: 'EndpointTestRequest', additionalProperties: false },
  ),
)

const resource = 'webhook-endpoint'
const access = { resource, action: 'update' } as const
const tags = ['webhook endpoints']

const at = { entryOf: ({ tenantPrincipalEntry }: FastifyRequest) => tenantPrincipalEntry }

/** The URLs that a tenant's events are sent to. */
const webhookEndpoints: FastifyPluginAsyncTypebox<EndpointSettings> =
  async function webhookEndpoints(app, options) {
    const { keys } = options
    const { create, rotate } = endpointActions(options)
    const path = '/webhook-endpoints'
    app.api(`POST ${path}`, create, at)
    app.api(`GET ${path}`, listWebhookEndpoints, at)
    app.api(`GET ${path}/:id`, getWebhookEndpoint, at)

    app.patch(
      '/webhook-endpoints/:id',
      {
        config: {
          idempotencyKey: true,
          versioned: Endpoint,
          access: { resource, action: 'update' },
        },
        schema: {
          operationId: 'updateWebhookEndpoint',
          tags,
          summary: 'Change an endpoint; pending deliveries use the new URL from their next attempt',
          params: UuidParams,
          body: EndpointChange,
          response: { 200: Endpoint, ...problems('conflict') },
        },
      },
      async (request, reply) => {
        const { body, params, clientInfo } = request
        const now = app.clock.now()
        // A missing endpoint is a 404 before the URL is checked.
        found(
          await app.db.read(request.tenantPrincipalEntry, (tx, caller) =>
            findEndpoint(tx, caller, params.id),
          ),
        )
        const { url, rateLimit, ...rest } = body
        const change = {
          ...rest,
          ...(url !== undefined && { url: await app.readCustomerUrl(url, request.log) }),
          ...(rateLimit !== undefined && { rateLimit: readRateLimit(rateLimit) }),
        }
        const changed = await app.db.write(request.tenantPrincipalEntry, async (tx, caller) => {
          await reply.ifMatch(() => lockEndpoint(tx, caller, params.id))
          return changeEndpoint(tx, { ...caller, clientInfo }, params.id, change, now)
        })
        if (changed === 'url-taken') {
          throw new Problem('conflict', { detail: endpointRefusals[changed] })
        }
        return found(changed)
      },
    )

    app.api(`DELETE ${path}/:id`, deleteWebhookEndpoint, at)
    app.api(`POST ${path}/:id/rotate-secret`, rotate, at)
    app.api(`POST ${path}/:id/enable`, enableWebhookEndpoint, at)
    const { pause, resume } = pauseActions(app.queue)
    app.api(`POST ${path}/:id/pause`, pause, at)
    app.api(`POST ${path}/:id/resume`, resume, at)

    addChecks(app, keys)
    app.api(`GET ${path}/:id/probe`, getWebhookEndpointProbe, at)
  }

/** Adds the checks of an endpoint: a worker sends requests to it, and the caller waits for the result. */
function addChecks(app: Parameters<FastifyPluginAsyncTypebox>[0], keys: EncryptionKeys) {
  app.post(
    '/webhook-endpoints/:id/test',
    {
      config: { access },
      schema: {
        operationId: 'testWebhookEndpoint',
        tags,
        summary: 'Send one test event to an endpoint now and return the result',
        description:
          'An `endpoint.test`, or the `type` that you name, with example data of an object that does not exist. A worker makes one attempt before the response; if none is free within 4 seconds, this is 503 and nothing was sent. The attempt is not retried and does not change the state of the endpoint. Disabled endpoints can be tested too.',
        params: UuidParams,
        body: OptionalTest,
        response: { 200: Delivery, ...problems('quota-exceeded') },
      },
    },
    async (request) => {
      const { params, body, clientInfo } = request
      const { db, queue, answers } = app
      const deps = { queue, answers, keys, clientInfo }
      const test = { endpointId: params.id, type: body?.type ?? testType }
      return found(await sendTest(db, request.tenantPrincipalEntry, test, deps))
    },
  )

  app.post(
    '/webhook-endpoints/:id/probe',
    {
      config: { access },
      schema: {
        operationId: 'probeWebhookEndpoint',
        tags,
        summary: 'Check the receiver of an endpoint with correct and incorrect deliveries',
        description: `Sends about twelve inert \`endpoint.test\` deliveries, grades the receiver from A to F and names a remedy for each fault. A worker sends them; if none is free within 4 seconds, this is 503 and nothing was sent. Takes up to 25 seconds; at most every ${probeEveryHours} hours for an endpoint.`,
        params: UuidParams,
        body: NoBody,
        response: { 200: ProbeReport, ...problems('quota-exceeded') },
      },
    },
    async (request) => {
      const { params, clientInfo } = request
      const { db, queue, answers, clock } = app
      const deps = { queue, answers, keys, clock, clientInfo }
      const probed = found(await probeEndpoint(db, request.tenantPrincipalEntry, params.id, deps))
      if ('report' in probed) return probed.report
      const { until } = probed.wait
      throw new Problem('too-many-requests', {
        detail: `This endpoint can be probed again at ${until.toISOString()}.`,
        retryAfterSeconds: Math.ceil((until.getTime() - clock.now().getTime()) / 1_000),
        reason: 'probe',
      })
    },
  )
}

/** The endpoints of a tenant for the app, which names it: those of its customers. */
export const tenantWebhookEndpoints: FastifyPluginAsyncTypebox<EndpointSettings> =
  async function tenantWebhookEndpoints(app, options) {
    const { create, list, remove } = tenantEndpointActions(options)
    const named = { ...at, namesTenant: true } as const
    app.api('POST /tenants/:id/webhook-endpoints', create, named)
    app.api('GET /tenants/:id/webhook-endpoints', list, named)
    app.api('DELETE /tenants/:id/webhook-endpoints/:endpointId', remove, named)
  }

export default webhookEndpoints
