import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { NoContent, PageOf, PageQuery, problems, Uuid, UuidParams } from '#src/http/schemas.ts'
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  endpointList,
  endpointRefusals,
  findEndpoint,
  listEndpoints,
  lockEndpoint,
  maxEndpoints,
} from '#src/webhooks/endpoints/endpoints.ts'
import {
  Endpoint,
  EndpointChange,
  NewEndpoint,
  readRateLimit,
  Secret,
} from '#src/webhooks/endpoints/schemas.ts'
import type { SignatureProfile } from '#src/webhooks/signing/signature.ts'

type Options = {
  keys: EncryptionKeys
  /** Default profile of a new endpoint. */
  signature: SignatureProfile
}

const EndpointParams = Type.Object({ id: Uuid, endpointId: Uuid }, { additionalProperties: false })

const resource = 'webhook-endpoint'
const tags = ['webhook endpoints']

const creation = {
  body: NewEndpoint,
  response: {
    201: Type.Object(
      { ...Endpoint.properties, secret: Secret },
      { title: 'WebhookEndpointWithSecret' },
    ),
    ...problems('conflict'),
  },
}
const limits = `A tenant has at most ${maxEndpoints} endpoints, and a URL once (409). The URL is checked now, and again before every attempt.`
const page = { querystring: PageQuery, response: { 200: PageOf(Endpoint) } }

/** The URLs that a tenant's events are sent to. */
const webhookEndpoints: FastifyPluginAsyncTypebox<Options> = async function webhookEndpoints(
  app,
  options,
) {
  app.post(
    '/webhook-endpoints',
    {
      config: { idempotencyKey: true, access: { resource, action: 'create' } },
      schema: {
        operationId: 'createWebhookEndpoint',
        tags,
        summary: 'Create an endpoint for your events; its signing secret is not shown again',
        description: limits,
        ...creation,
      },
    },
    async (request, reply) => {
      const endpoint = await createRequested(request, options)
      return reply.code(201).header('location', `/webhook-endpoints/${endpoint.id}`).send(endpoint)
    },
  )

  app.get(
    '/webhook-endpoints',
    {
      config: { access: { resource, action: 'read' } },
      schema: {
        operationId: 'listWebhookEndpoints',
        tags,
        summary: 'List the endpoints of your tenant, newest first',
        ...page,
      },
    },
    async (request) => readEndpoints(request),
  )

  app.get(
    '/webhook-endpoints/:id',
    {
      config: { versioned: Endpoint, access: { resource, action: 'read' } },
      schema: {
        operationId: 'getWebhookEndpoint',
        tags,
        summary: 'Read an endpoint of your tenant',
        params: UuidParams,
        response: { 200: Endpoint },
      },
    },
    async (request) => {
      const { id } = request.params
      return found(
        await app.db.read(request.tenantPrincipalEntry, (tx, caller) =>
          findEndpoint(tx, caller, id),
        ),
      )
    },
  )

  app.patch(
    '/webhook-endpoints/:id',
    {
      config: { idempotencyKey: true, versioned: Endpoint, access: { resource, action: 'update' } },
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

  app.delete(
    '/webhook-endpoints/:id',
    {
      config: { versioned: Endpoint, access: { resource, action: 'delete' } },
      schema: {
        operationId: 'deleteWebhookEndpoint',
        tags,
        summary: 'Delete an endpoint and its deliveries; nothing more is sent to it',
        params: UuidParams,
        response: { 204: NoContent('The endpoint is deleted') },
      },
    },
    async (request, reply) => {
      const { clientInfo } = request
      const { id } = request.params
      const deleted = await app.db.write(request.tenantPrincipalEntry, async (tx, caller) => {
        await reply.ifMatch(() => lockEndpoint(tx, caller, id))
        return deleteEndpoint(tx, { ...caller, clientInfo }, id)
      })
      if (!deleted) throw new Problem('not-found')
      return reply.code(204).send(null)
    },
  )
}

/** The endpoints of a tenant for the app, which names it: those of its customers. */
export const tenantWebhookEndpoints: FastifyPluginAsyncTypebox<Options> =
  async function tenantWebhookEndpoints(app, options) {
    app.post(
      '/tenants/:id/webhook-endpoints',
      {
        config: { namesTenant: true, idempotencyKey: true, access: { resource, action: 'create' } },
        schema: {
          operationId: 'createTenantWebhookEndpoint',
          tags: ['app'],
          summary: 'Create an endpoint of a tenant; its signing secret is not shown again',
          description: limits,
          params: UuidParams,
          ...creation,
        },
      },
      async (request, reply) => {
        const endpoint = await createRequested(request, options)
        const location = `/tenants/${request.params.id}/webhook-endpoints/${endpoint.id}`
        return reply.code(201).header('location', location).send(endpoint)
      },
    )

    app.get(
      '/tenants/:id/webhook-endpoints',
      {
        config: { namesTenant: true, access: { resource, action: 'read' } },
        schema: {
          operationId: 'listTenantWebhookEndpoints',
          tags: ['app'],
          summary: 'List the endpoints of a tenant, newest first',
          params: UuidParams,
          ...page,
        },
      },
      async (request) => readEndpoints(request),
    )

    app.delete(
      '/tenants/:id/webhook-endpoints/:endpointId',
      {
        config: { namesTenant: true, access: { resource, action: 'delete' } },
        schema: {
          operationId: 'deleteTenantWebhookEndpoint',
          tags: ['app'],
          summary: 'Delete an endpoint of a tenant and its deliveries; nothing more is sent to it',
          params: EndpointParams,
          response: { 204: NoContent('The endpoint is deleted') },
        },
      },
      async (request, reply) => {
        const { tenantPrincipalEntry, clientInfo, params } = request
        const deleted = await app.db.write(tenantPrincipalEntry, (tx, caller) =>
          deleteEndpoint(tx, { ...caller, clientInfo }, params.endpointId),
        )
        if (!deleted) throw new Problem('not-found')
        return reply.code(204).send(null)
      },
    )
  }

async function createRequested(
  request: FastifyRequest<{ Body: Static<typeof NewEndpoint> }>,
  { keys, signature }: Options,
) {
  const { server, body, clientInfo } = request
  const facts = {
    url: await server.readCustomerUrl(body.url, request.log),
    description: body.description ?? null,
    eventTypes: body.eventTypes ?? null,
    signature: body.signature ?? signature,
    rateLimit: readRateLimit(body.rateLimit ?? null),
    payload: body.payload ?? 'full',
    recoverWhenDisabled: body.recoverWhenDisabled ?? false,
  }
  const made = { keys, now: server.clock.now() }
  const endpoint = await server.db.write(request.tenantPrincipalEntry, (tx, caller) =>
    createEndpoint(tx, { ...caller, clientInfo }, facts, made),
  )
  if (typeof endpoint === 'string') {
    throw new Problem('conflict', { detail: endpointRefusals[endpoint] })
  }
  return endpoint
}

async function readEndpoints(request: FastifyRequest<{ Querystring: Static<typeof PageQuery> }>) {
  const { server, query, tenantPrincipalEntry } = request
  const page = readPage(query, endpointList.name, endpointList.forms)
  return server.db.read(tenantPrincipalEntry, (tx, caller) => listEndpoints(tx, caller, page))
}

export default webhookEndpoints
