import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { readPage } from '#src/http/pagination.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { PageOf, PageQuery, problems, UuidParams } from '#src/http/schemas.ts'
import type { SignatureProfile } from '#src/webhooks/delivery/signature.ts'
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  endpointList,
  findEndpoint,
  listEndpoints,
  maxEndpoints,
} from '#src/webhooks/endpoints/endpoints.ts'
import { Endpoint, EndpointChange, NewEndpoint, Secret } from '#src/webhooks/endpoints/schemas.ts'

type Options = {
  keys: EncryptionKeys
  /** Profile of an endpoint that names none. */
  signature: SignatureProfile
}

const resource = 'webhook-endpoint'
const tags = ['webhook endpoints']

/** Where a tenant has its events sent to. */
const webhookEndpoints: FastifyPluginAsyncTypebox<Options> = async function webhookEndpoints(
  app,
  { keys, signature },
) {
  app.post(
    '/webhook-endpoints',
    {
      config: { access: { resource, action: 'create' } },
      schema: {
        tags,
        summary: 'Have events sent to a URL of yours; the signing secret is shown this once',
        description: `A tenant has at most ${maxEndpoints} endpoints (409). The URL is checked now and again before every attempt.`,
        body: NewEndpoint,
        response: {
          201: Type.Object({ ...Endpoint.properties, secret: Secret }),
          ...problems(400, 401, 403, 409, 429, 503),
        },
      },
    },
    async (request, reply) => {
      const { body, actor: by } = request
      const facts = {
        url: await app.readCustomerUrl(body.url, request.log),
        description: body.description ?? null,
        eventTypes: body.eventTypes ?? null,
        signature: body.signature ?? signature,
      }
      const made = { keys, now: app.clock.now() }
      const endpoint = await app.db.write(by, (tx) => createEndpoint(tx, by, facts, made))
      if (endpoint === null) {
        const detail = `A tenant has at most ${maxEndpoints} endpoints.`
        throw new Problem('conflict', { detail })
      }
      return reply.header('cache-control', 'no-store').code(201).send(endpoint)
    },
  )

  app.get(
    '/webhook-endpoints',
    {
      config: { access: { resource, action: 'read' } },
      schema: {
        tags,
        summary: 'The endpoints of your tenant, newest first',
        querystring: PageQuery,
        response: { 200: PageOf(Endpoint), ...problems(400, 401, 403, 429, 503) },
      },
    },
    async (request) => {
      const scope = request.tenantScope
      const page = readPage(request.query, endpointList.name, endpointList.forms)
      return app.db.read(scope, (tx) => listEndpoints(tx, scope, page))
    },
  )

  app.get(
    '/webhook-endpoints/:id',
    {
      config: { access: { resource, action: 'read' } },
      schema: {
        tags,
        summary: 'One of the endpoints of your tenant',
        params: UuidParams,
        response: { 200: Endpoint, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request) => {
      const scope = request.tenantScope
      const { id } = request.params
      return found(await app.db.read(scope, (tx) => findEndpoint(tx, scope, id)))
    },
  )

  app.patch(
    '/webhook-endpoints/:id',
    {
      config: { access: { resource, action: 'update' } },
      schema: {
        tags,
        summary: 'Change an endpoint; what is under way goes to the new URL from its next attempt',
        params: UuidParams,
        body: EndpointChange,
        response: { 200: Endpoint, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request) => {
      const { body, params, actor: by } = request
      const now = app.clock.now()
      // Foreign and missing are a 404 before the URL is looked at, whatever it is.
      found(await app.db.read(by, (tx) => findEndpoint(tx, by, params.id)))
      const { url } = body
      const change =
        url === undefined ? body : { ...body, url: await app.readCustomerUrl(url, request.log) }
      return found(await app.db.write(by, (tx) => changeEndpoint(tx, by, params.id, change, now)))
    },
  )

  app.delete(
    '/webhook-endpoints/:id',
    {
      config: { access: { resource, action: 'delete' } },
      schema: {
        tags,
        summary: 'Remove an endpoint and its deliveries; nothing more is sent to it',
        params: UuidParams,
        response: { 204: Type.Null(), ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request, reply) => {
      const by = request.actor
      const { id } = request.params
      const deleted = await app.db.write(by, (tx) => deleteEndpoint(tx, by, id))
      if (!deleted) throw new Problem('not-found')
      return reply.code(204).send(null)
    },
  )
}

export default webhookEndpoints
