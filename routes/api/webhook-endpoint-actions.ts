import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { found } from '#src/http/params.ts'
import { NoBody, Nullable, problems, Time, UuidParams } from '#src/http/schemas.ts'
import { sendTest } from '#src/webhooks/delivery/test-event.ts'
import { enableEndpoint, overlapSeconds, rotateSecret } from '#src/webhooks/endpoints/endpoints.ts'
import { Delivery, Endpoint, Secret } from '#src/webhooks/endpoints/schemas.ts'

const Rotation = Type.Object(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: overlapSeconds.maximum,
        description: `How long the secret before signs too; ${overlapSeconds.default} by default`,
      }),
    ),
  },
  { additionalProperties: false },
)

const access = { resource: 'webhook-endpoint', action: 'update' } as const
const tags = ['webhook endpoints']

/** What one does to an endpoint beside changing its fields. */
const webhookEndpointActions: FastifyPluginAsyncTypebox<{ keys: EncryptionKeys }> =
  async function webhookEndpointActions(app, { keys }) {
    app.post(
      '/webhook-endpoints/:id/rotate-secret',
      {
        config: { access },
        schema: {
          tags,
          summary: 'Give an endpoint a new secret; it is shown this once',
          description:
            'Until the overlap ends every delivery carries a signature by each of the two secrets. At most two sign: rotated again within an overlap, the oldest stops at once. With `overlapSeconds: 0` the old one does.',
          params: UuidParams,
          body: Nullable(Rotation),
          response: {
            200: Type.Object({
              ...Endpoint.properties,
              secret: Secret,
              previousSecretExpiresAt: Nullable(Time),
            }),
            ...problems(400, 401, 403, 404, 429, 503),
          },
        },
      },
      async (request, reply) => {
        const { params, actor: by } = request
        const overlap = request.body?.overlapSeconds ?? overlapSeconds.default
        const rotation = { keys, now: app.clock.now(), overlap }
        const endpoint = await app.db.write(by, (tx) => rotateSecret(tx, by, params.id, rotation))
        return reply.header('cache-control', 'no-store').send(found(endpoint))
      },
    )

    app.post(
      '/webhook-endpoints/:id/enable',
      {
        config: { access },
        schema: {
          tags,
          summary: 'Take up sending to a failing or disabled endpoint again',
          description:
            'What failed before counts no more. Deliveries that came to their end meanwhile are sent by a replay.',
          params: UuidParams,
          body: NoBody,
          response: { 200: Endpoint, ...problems(400, 401, 403, 404, 429, 503) },
        },
      },
      async (request) => {
        const { params, actor: by } = request
        const now = app.clock.now()
        return found(await app.db.write(by, (tx) => enableEndpoint(tx, by, params.id, now)))
      },
    )

    app.post(
      '/webhook-endpoints/:id/test',
      {
        config: { access },
        schema: {
          tags,
          summary: 'Send one `endpoint.test` to an endpoint now, and see its answer',
          description:
            'One attempt, made before this answers; it is not repeated and changes nothing about the state of the endpoint. Disabled endpoints can be tested too.',
          params: UuidParams,
          body: NoBody,
          response: { 200: Delivery, ...problems(400, 401, 403, 404, 429, 503) },
        },
      },
      async (request) => {
        const { params, actor: by } = request
        const { db, sender, clock } = app
        return found(await sendTest(db, { sender, keys, clock }, by, params.id))
      },
    )
  }

export default webhookEndpointActions
