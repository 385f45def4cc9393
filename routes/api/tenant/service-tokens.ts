import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { servicePermissions } from '#src/access/policy.ts'
import {
  changeServiceToken,
  createServiceToken,
  defaultDays,
  deleteServiceToken,
  findServiceToken,
  listServiceTokens,
  lockServiceToken,
  maxDays,
  maxServiceTokens,
  rotateServiceToken,
  serviceTokenList,
} from '#src/auth/service-tokens/service-tokens.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import {
  Id,
  Line,
  NoBody,
  NoContent,
  Nullable,
  PageOf,
  PageQuery,
  problems,
  Time,
  Uuid,
  UuidParams,
} from '#src/http/schemas.ts'

const ServiceToken = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    permissions: Type.Array(Type.String(), {
      description: '`resource:action`; it may do nothing else',
    }),
    createdBy: Nullable(
      Type.Integer({
        ...Id,
        description: 'The user who created it, a member still or not; null after their erasure',
      }),
    ),
    createdAt: Time,
    expiresAt: Time,
    secretRotatedAt: Nullable(Time),
    lastUsedAt: Nullable(Type.String({ ...Time, description: 'To the minute' })),
  },
  { title: 'ServiceToken' },
)

const WithSecret = Type.Object(
  {
    ...ServiceToken.properties,
    token: Type.String({
      description: 'The secret. It is not shown again.',
      examples: ['gths_…'],
    }),
  },
  { title: 'ServiceTokenWithSecret' },
)

const Permissions = Type.Array(Type.String({ enum: [...servicePermissions] }), {
  minItems: 1,
  maxItems: servicePermissions.length,
  uniqueItems: true,
  description: 'What the service may do in your tenant; it may do nothing else.',
})

const Expiry = Type.String({
  format: 'date-time',
  description: `In the future, at most ${maxDays} days ahead; ${defaultDays} days by default`,
})

const NewServiceToken = Type.Object(
  { name: Line(100), permissions: Permissions, expiresAt: Type.Optional(Expiry) },
  { title: 'NewServiceToken', additionalProperties: false },
)

const ServiceTokenChange = Type.Object(
  {
    name: Type.Optional(Line(100)),
    permissions: Type.Optional(Permissions),
    expiresAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description: `In the future, at most ${maxDays} days ahead`,
      }),
    ),
  },
  { title: 'ServiceTokenChange', minProperties: 1, additionalProperties: false },
)

const tags = ['service tokens']
const recently =
  'Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`.'

/** The service tokens of the tenant. Admins manage them with a session; no token can. */
const serviceTokens: FastifyPluginAsyncTypebox = async function serviceTokens(app) {
  app.get(
    '/service-tokens',
    {
      exposeHeadRoute: false,
      config: { access: { resource: 'service-token', action: 'read' } },
      schema: {
        operationId: 'listServiceTokens',
        tags,
        summary: 'The service tokens of your tenant, newest first',
        description: 'Expired tokens are listed for another 30 days.',
        querystring: PageQuery,
        response: { 200: PageOf(ServiceToken) },
      },
    },
    async (request) => {
      const page = readPage(request.query, serviceTokenList.name, serviceTokenList.forms)
      return app.db.read(request.tenantEntry, (tx, caller) => listServiceTokens(tx, caller, page))
    },
  )

  app.post(
    '/service-tokens',
    {
      config: {
        versioned: ServiceToken,
        idempotencyKey: true,
        access: { resource: 'service-token', action: 'create' },
      },
      schema: {
        operationId: 'createServiceToken',
        tags,
        summary: 'Create a service token for your tenant; its secret is returned only here',
        description: `Sent as \`Authorization: Bearer gths_…\`, not together with a session cookie (400). It acts for the tenant and for no person: it may do what its permissions name, within the tenant, and has limits of its own. It ends when it expires or is deleted, or with the tenant, and not when you leave. ${recently} 409 if the tenant has ${maxServiceTokens} service tokens.`,
        body: NewServiceToken,
        response: { 201: WithSecret, ...problems('conflict') },
      },
    },
    async (request, reply) => {
      const { tenantEntry, clientInfo, body } = request
      const now = app.clock.now()
      const { name, permissions, expiresAt } = body
      const facts = { name, permissions, expiresAt: expiresAt ? new Date(expiresAt) : null }
      const token = await app.db.write(tenantEntry, (tx, { userId, tenantId }) =>
        createServiceToken(tx, { userId, tenantId, clientInfo }, facts, now),
      )
      return reply.code(201).header('location', `/service-tokens/${token.id}`).send(token)
    },
  )

  app.get(
    '/service-tokens/:id',
    {
      exposeHeadRoute: false,
      config: { versioned: ServiceToken, access: { resource: 'service-token', action: 'read' } },
      schema: {
        operationId: 'getServiceToken',
        tags,
        summary: 'Read a service token of your tenant',
        params: UuidParams,
        response: { 200: ServiceToken },
      },
    },
    async (request) => {
      const { id } = request.params
      return found(
        await app.db.read(request.tenantEntry, (tx, caller) => findServiceToken(tx, caller, id)),
      )
    },
  )

  app.patch(
    '/service-tokens/:id',
    {
      config: {
        idempotencyKey: true,
        versioned: ServiceToken,
        access: { resource: 'service-token', action: 'update' },
      },
      schema: {
        operationId: 'updateServiceToken',
        tags,
        summary: 'Change name, permissions or expiry of a service token',
        description: `Applies from its next request. ${recently} \`lastUsedAt\` is part of the ETag, so \`If-Match\` may also fail because the token was used.`,
        params: UuidParams,
        body: ServiceTokenChange,
        response: { 200: ServiceToken },
      },
    },
    async (request, reply) => {
      const { tenantEntry, clientInfo, params, body } = request
      const now = app.clock.now()
      const { expiresAt, ...fields } = body
      const change = { ...fields, ...(expiresAt && { expiresAt: new Date(expiresAt) }) }
      return found(
        await app.db.write(tenantEntry, async (tx, { userId, tenantId }) => {
          await reply.ifMatch(() => lockServiceToken(tx, { tenantId }, params.id))
          return changeServiceToken(tx, { userId, tenantId, clientInfo }, params.id, change, now)
        }),
      )
    },
  )

  app.post(
    '/service-tokens/:id/rotate-secret',
    {
      config: { idempotencyKey: true, access: { resource: 'service-token', action: 'update' } },
      schema: {
        operationId: 'rotateServiceToken',
        tags,
        summary: 'Give a service token a new secret; it is returned only here',
        description: `The previous secret ends at once. To change over without a gap, create a second token and delete the first. ${recently} 409 if another request rotates it at the same time.`,
        params: UuidParams,
        body: NoBody,
        response: { 200: WithSecret, ...problems('conflict') },
      },
    },
    async (request) => {
      const { tenantEntry, clientInfo, params } = request
      return found(
        await app.db.write(tenantEntry, (tx, { userId, tenantId }) =>
          rotateServiceToken(tx, { userId, tenantId, clientInfo }, params.id),
        ),
      )
    },
  )

  app.delete(
    '/service-tokens/:id',
    {
      config: { versioned: ServiceToken, access: { resource: 'service-token', action: 'delete' } },
      schema: {
        operationId: 'deleteServiceToken',
        tags,
        summary: 'Delete a service token; its next request is refused',
        params: UuidParams,
        response: { 204: NoContent('The token is deleted') },
      },
    },
    async (request, reply) => {
      const { tenantEntry, clientInfo, params } = request
      const deleted = await app.db.write(tenantEntry, async (tx, { userId, tenantId }) => {
        await reply.ifMatch(() => lockServiceToken(tx, { tenantId }, params.id))
        return deleteServiceToken(tx, { userId, tenantId, clientInfo }, params.id)
      })
      if (!deleted) throw new Problem('not-found')
      return reply.code(204).send(null)
    },
  )
}

export default serviceTokens
