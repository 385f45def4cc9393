import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { NoContent, PageOf, PageQuery, problems, UuidParams } from '#src/http/schemas.ts'
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

const resource = 'webhook-endpoint'
const tags = ['webhook endpoints']

/** The URLs that a tenant's events are sent to. */
const webhookEndpoints: FastifyPluginAsyncTypebox<Options> = async function webhookEndpoints(
  app,
  { keys, signature },
) {
  app.post(
    '/webhook-endpoints',
    {
      config: { idempotencyKey: true, access: { resource, action: 'create' } },
      schema: {
        operationId: 'createWebhookEndpoint',
        tags,
        summary: 'Create an endpoint for your events; its signing secret is not shown again',
        description: `A tenant has at most ${maxEndpoints} endpoints, and a URL once (409). The URL is checked now, and again before every attempt.`,
        body: NewEndpoint,
        response: {
          201: Type.Object(
            { ...Endpoint.properties, secret: Secret },
            { title: 'WebhookEndpointWithSecret' },
          ),
          ...problems('conflict'),
        },
      },
    },
    async (request, reply) => {
      const { body, clientInfo } = request
      const facts = {
        url: await app.readCustomerUrl(body.url, request.log),
        description: body.description ?? null,
        eventTypes: body.eventTypes ?? null,
        signature: body.signature ?? signature,
        rateLimit: readRateLimit(body.rateLimit ?? null),
        payload: body.payload ?? 'full',
        recoverWhenDisabled: body.recoverWhenDisabled ?? false,
      }
      const made = { keys, now: app.clock.now() }
      const endpoint = await app.db.write(request.tenantPrincipalEntry, (tx, caller) =>
        createEndpoint(tx, { ...caller, clientInfo }, facts, made),
      )
      if (typeof endpoint === 'string') {
        throw new Problem('conflict', { detail: endpointRefusals[endpoint] })
      }
      const location = `/webhook-endpoints/${endpoint.id}`
      return reply.code(201).header('location', location).send(endpoint)
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
        querystring: PageQuery,
        response: { 200: PageOf(Endpoint) },
      },
    },
    async (request) => {
      const page = readPage(request.query, endpointList.name, endpointList.forms)
      return app.db.read(request.tenantPrincipalEntry, (tx, caller) =>
        listEndpoints(tx, caller, page),
      )
    },
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

export default webhookEndpoints
