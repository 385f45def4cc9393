import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { NoBody, Nullable, problems, Time, UuidParams } from '#src/http/schemas.ts'
import { enableEndpoint, overlapSeconds, rotateSecret } from '#src/webhooks/endpoints/endpoints.ts'
import { Endpoint, Secret } from '#src/webhooks/endpoints/schemas.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import { Delivery } from '#src/webhooks/history/schemas.ts'
import { findProbe, probeEndpoint, probeEveryHours } from '#src/webhooks/probe/probe.ts'
import { ProbeReport } from '#src/webhooks/probe/schemas.ts'
import { sendTest, testType } from '#src/webhooks/probe/test-event.ts'

const Rotation = Type.Object(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: overlapSeconds.maximum,
        description: `How long the previous secret still signs; ${overlapSeconds.default} by default`,
      }),
    ),
  },
  { title: 'SecretRotation', additionalProperties: false },
)

const OptionalRotation = Nullable(Rotation)

const OptionalTest = Nullable(
  Type.Object(
    { type: Type.Optional(Type.Enum([...eventTypes], { title: 'EventType' })) },
    { title: 'EndpointTestRequest', additionalProperties: false },
  ),
)

const access = { resource: 'webhook-endpoint', action: 'update' } as const
const tags = ['webhook endpoints']

type Options = { keys: EncryptionKeys }

/** Actions on an endpoint other than changing its fields. */
const webhookEndpointActions: FastifyPluginAsyncTypebox<Options> =
  async function webhookEndpointActions(app, { keys }) {
    app.post(
      '/webhook-endpoints/:id/rotate-secret',
      {
        config: { idempotencyKey: true, access },
        schema: {
          operationId: 'rotateWebhookEndpointSecret',
          tags,
          summary: 'Rotate the secret of an endpoint; the new one is not shown again',
          description:
            'Until the overlap ends, every delivery is signed with both secrets. At most two secrets sign: another rotation during the overlap stops the oldest at once. With `overlapSeconds: 0` the previous secret stops at once.',
          params: UuidParams,
          body: OptionalRotation,
          response: {
            200: Type.Object(
              {
                ...Endpoint.properties,
                secret: Secret,
                previousSecretExpiresAt: Nullable(Time),
              },
              { title: 'WebhookEndpointWithSecrets' },
            ),
          },
        },
      },
      async (request) => {
        const { params, clientInfo } = request
        const overlap = request.body?.overlapSeconds ?? overlapSeconds.default
        const rotation = { keys, now: app.clock.now(), overlap }
        const endpoint = await app.db.write(request.tenantPrincipalEntry, (tx, caller) =>
          rotateSecret(tx, { ...caller, clientInfo }, params.id, rotation),
        )
        return found(endpoint)
      },
    )

    app.post(
      '/webhook-endpoints/:id/enable',
      {
        config: { access },
        schema: {
          operationId: 'enableWebhookEndpoint',
          tags,
          summary: 'Enable a failing or disabled endpoint',
          description:
            'Earlier failures no longer count. Use a replay to send the deliveries that ended in the meantime.',
          params: UuidParams,
          body: NoBody,
          response: { 200: Endpoint },
        },
      },
      async (request) => {
        const { params, clientInfo } = request
        const now = app.clock.now()
        return found(
          await app.db.write(request.tenantPrincipalEntry, (tx, caller) =>
            enableEndpoint(tx, { ...caller, clientInfo }, params.id, now),
          ),
        )
      },
    )

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

    app.get(
      '/webhook-endpoints/:id/probe',
      {
        config: { access: { resource: 'webhook-endpoint', action: 'read' } },
        schema: {
          operationId: 'getWebhookEndpointProbe',
          tags,
          summary: 'The report of the latest probe',
          params: UuidParams,
          response: {
            200: Type.Object({ report: Nullable(ProbeReport) }, { title: 'LatestProbe' }),
          },
        },
      },
      async (request) => {
        const { id } = request.params
        return found(
          await app.db.read(request.tenantPrincipalEntry, (tx, scope) => findProbe(tx, scope, id)),
        )
      },
    )
  }

export default webhookEndpointActions
