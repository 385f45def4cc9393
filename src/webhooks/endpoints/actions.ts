import Type from 'typebox'
import type { TenantPrincipal } from '#src/access/caller.ts'
import { type Acting, defineAction } from '#src/actions/action.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import {
  means,
  NoBody,
  NoContent,
  Nullable,
  PageOf,
  Time,
  Uuid,
  UuidParams,
} from '#src/http/schemas.ts'
import type { SignatureProfile } from '#src/webhooks/signing/signature.ts'
import {
  createEndpoint,
  deleteEndpoint,
  enableEndpoint,
  endpointList,
  endpointRefusals,
  findEndpoint,
  listEndpoints,
  lockEndpoint,
  maxEndpoints,
  overlapSeconds,
  rotateSecret,
} from './endpoints.ts'
import { Endpoint, NewEndpoint, readRateLimit, Secret } from './schemas.ts'

type By = Acting<TenantPrincipal>

export type EndpointSettings = {
  keys: EncryptionKeys
  /** Default profile of a new endpoint. */
  signature: SignatureProfile
}

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
const WithSecret = { ...Endpoint.properties, secret: Secret }
const EndpointParams = Type.Object(
  { ...UuidParams.properties, endpointId: means(Uuid, '`id` of the endpoint') },
  { additionalProperties: false },
)

const resource = 'webhook-endpoint'
const tag = 'webhook endpoints'

/** The operations on the webhook endpoints of a tenant. */
export function endpointActions({ keys, signature }: EndpointSettings) {
  const create = defineAction({
    name: 'createWebhookEndpoint',
    rule: { resource, action: 'create' },
    tag,
    summary: 'Create an endpoint for your events; its signing secret is not shown again',
    description: `A tenant has at most ${maxEndpoints} endpoints, and a URL once (409). The URL is checked now, and again before every attempt.`,
    body: NewEndpoint,
    result: Type.Object(WithSecret, { title: 'WebhookEndpointWithSecret' }),
    status: 201,
    problems: ['conflict'],
    refusals: endpointRefusals,
    once: true,
    prepare: async (body, { readUrl }) => ({ ...body, url: await readUrl(body.url) }),
    run({ tx, by, now }: By, { body }) {
      const facts = {
        url: body.url,
        description: body.description ?? null,
        eventTypes: body.eventTypes ?? null,
        signature: body.signature ?? signature,
        rateLimit: readRateLimit(body.rateLimit ?? null),
        payload: body.payload ?? 'full',
        recoverWhenDisabled: body.recoverWhenDisabled ?? false,
      }
      return createEndpoint(tx, by, facts, { keys, now })
    },
  })
  const rotate = defineAction({
    name: 'rotateWebhookEndpointSecret',
    rule: { resource, action: 'update' },
    tag,
    summary: 'Rotate the secret of an endpoint; the new one is not shown again',
    description:
      'Until the overlap ends, every delivery is signed with both secrets. At most two secrets sign: another rotation during the overlap stops the oldest at once. With `overlapSeconds: 0` the previous secret stops at once.',
    params: UuidParams,
    body: Nullable(Rotation),
    result: Type.Object(
      {
        ...WithSecret,
        previousSecretExpiresAt: Nullable(
          means(Time, 'When the secret before stops signing; null if it has stopped'),
        ),
      },
      { title: 'WebhookEndpointWithSecrets' },
    ),
    once: true,
    run({ tx, by, now }: By, { params, body }) {
      const overlap = body?.overlapSeconds ?? overlapSeconds.default
      return rotateSecret(tx, by, params.id, { keys, now, overlap })
    },
  })
  return { create, rotate }
}

export const listWebhookEndpoints = defineAction({
  name: 'listWebhookEndpoints',
  rule: { resource, action: 'read' },
  tag,
  summary: 'List the endpoints of your tenant, newest first',
  list: endpointList,
  result: PageOf(Endpoint),
  run: ({ tx, by }: By, { page }) => listEndpoints(tx, by, page),
})

export const getWebhookEndpoint = defineAction({
  name: 'getWebhookEndpoint',
  rule: { resource, action: 'read' },
  tag,
  summary: 'Read an endpoint of your tenant',
  params: UuidParams,
  result: Endpoint,
  versioned: Endpoint,
  run: ({ tx, by }: By, { params }) => findEndpoint(tx, by, params.id),
})

export const deleteWebhookEndpoint = defineAction({
  name: 'deleteWebhookEndpoint',
  rule: { resource, action: 'delete' },
  tag,
  summary: 'Delete an endpoint and its deliveries; nothing more is sent to it',
  params: UuidParams,
  result: NoContent('The endpoint is deleted'),
  status: 204,
  versioned: Endpoint,
  lock: ({ tx, by }: By, { id }) => lockEndpoint(tx, by, id),
  run: ({ tx, by }: By, { params }) => deleteEndpoint(tx, by, params.id),
})

export const enableWebhookEndpoint = defineAction({
  name: 'enableWebhookEndpoint',
  rule: { resource, action: 'update' },
  tag,
  summary: 'Enable a failing or disabled endpoint',
  description:
    'Earlier failures no longer count. Use a replay to send the deliveries that ended in the meantime.',
  params: UuidParams,
  body: NoBody,
  result: Endpoint,
  run: ({ tx, by, now }: By, { params }) => enableEndpoint(tx, by, params.id, now),
})

/** The operations of the app on the endpoints of its customers: each request names the tenant. */
export function tenantEndpointActions(settings: EndpointSettings) {
  const of = { tag: 'app', params: UuidParams }
  return {
    create: defineAction({
      ...endpointActions(settings).create,
      ...of,
      name: 'createTenantWebhookEndpoint',
      summary: 'Create an endpoint of a tenant; its signing secret is not shown again',
    }),
    list: defineAction({
      ...listWebhookEndpoints,
      ...of,
      name: 'listTenantWebhookEndpoints',
      summary: 'List the endpoints of a tenant, newest first',
    }),
    remove: defineAction({
      name: 'deleteTenantWebhookEndpoint',
      rule: { resource, action: 'delete' },
      tag: 'app',
      summary: 'Delete an endpoint of a tenant and its deliveries; nothing more is sent to it',
      params: EndpointParams,
      result: NoContent('The endpoint is deleted'),
      status: 204,
      run: ({ tx, by }: By, { params }) => deleteEndpoint(tx, by, params.endpointId),
    }),
  }
}
