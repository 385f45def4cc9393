import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { servicePermissions } from '#src/access/policy.ts'
import { programTokenSchemas, recently } from '#src/auth/program-tokens/schemas.ts'
import {
  changeServiceToken,
  createServiceToken,
  deleteServiceToken,
  findServiceToken,
  listServiceTokens,
  lockServiceToken,
  maxServiceTokens,
  rotateServiceToken,
  serviceTokenList,
} from '#src/auth/service-tokens/service-tokens.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { NoBody, NoContent, PageOf, PageQuery, problems, UuidParams } from '#src/http/schemas.ts'

const { Token, WithSecret, New, Change } = programTokenSchemas({
  title: 'ServiceToken',
  permissions: servicePermissions,
  permissionsText: 'What the service may do in your tenant; it may do nothing else.',
  createdByText: 'The user who created it, a member still or not; null after their erasure',
  secret: 'gths_…',
})

const tags = ['service tokens']

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
        response: { 200: PageOf(Token) },
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
        versioned: Token,
        idempotencyKey: true,
        access: { resource: 'service-token', action: 'create' },
      },
      schema: {
        operationId: 'createServiceToken',
        tags,
        summary: 'Create a service token for your tenant; its secret is returned only here',
        description: `Sent as \`Authorization: Bearer gths_…\`, not together with a session cookie (400). It acts for the tenant and for no person: it may do what its permissions name, within the tenant, and has limits of its own. It ends when it expires or is deleted, or with the tenant, and not when you leave. ${recently} 409 if the tenant has ${maxServiceTokens} service tokens.`,
        body: New,
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
      config: { versioned: Token, access: { resource: 'service-token', action: 'read' } },
      schema: {
        operationId: 'getServiceToken',
        tags,
        summary: 'Read a service token of your tenant',
        params: UuidParams,
        response: { 200: Token },
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
        versioned: Token,
        access: { resource: 'service-token', action: 'update' },
      },
      schema: {
        operationId: 'updateServiceToken',
        tags,
        summary: 'Change name, permissions or expiry of a service token',
        description: `Applies from its next request. ${recently} \`lastUsedAt\` is part of the ETag, so \`If-Match\` may also fail because the token was used.`,
        params: UuidParams,
        body: Change,
        response: { 200: Token },
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
      config: { versioned: Token, access: { resource: 'service-token', action: 'delete' } },
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
