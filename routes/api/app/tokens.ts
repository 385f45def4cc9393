import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { appPermissions } from '#src/access/policy.ts'
import {
  appTokenList,
  changeAppToken,
  createAppToken,
  deleteAppToken,
  findAppToken,
  listAppTokens,
  lockAppToken,
  maxAppTokens,
  rotateAppToken,
} from '#src/auth/app-tokens/app-tokens.ts'
import { isRecordedOperator, operatorNotRecorded } from '#src/auth/operators/operators.ts'
import { programTokenSchemas, recently } from '#src/auth/program-tokens/schemas.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { NoBody, NoContent, PageOf, PageQuery, problems, UuidParams } from '#src/http/schemas.ts'

const { Token, WithSecret, New, Change } = programTokenSchemas({
  title: 'AppToken',
  permissions: appPermissions,
  examples: [['event:publish']],
  permissionsText: 'What the app may do in every tenant; it may do nothing else.',
  createdByText: 'The operator who created it; null from the command line, or after their erasure',
  secret: 'gtha_…',
})

const tags = ['app']

/** The tokens of the app. Operators manage them with a session; no token can. */
const appTokens: FastifyPluginAsyncTypebox = async function appTokens(app) {
  app.get(
    '/app-tokens',
    {
      exposeHeadRoute: false,
      config: { access: { resource: 'app-token', action: 'read' } },
      schema: {
        operationId: 'listAppTokens',
        tags,
        summary: 'The app tokens, newest first',
        description: 'Expired tokens are listed for another 30 days.',
        querystring: PageQuery,
        response: { 200: PageOf(Token) },
      },
    },
    async (request) => {
      const page = readPage(request.query, appTokenList.name, appTokenList.forms)
      return app.db.read(request.sessionEntry, async (tx) => {
        if (!(await isRecordedOperator(tx))) throw operatorNotRecorded()
        return listAppTokens(tx, page)
      })
    },
  )

  app.post(
    '/app-tokens',
    {
      config: {
        versioned: Token,
        idempotencyKey: true,
        access: { resource: 'app-token', action: 'create' },
      },
      schema: {
        operationId: 'createAppToken',
        tags,
        summary: 'Create an app token; its secret is returned only here',
        description: `Sent as \`Authorization: Bearer gtha_…\`, not together with a session cookie (400). It is for the backend behind this program. It belongs to no tenant: each request names the tenant that it is about. Its permissions say what it may do, and it has its own rate limits. ${recently} 409 if there are ${maxAppTokens} app tokens.`,
        body: New,
        response: { 201: WithSecret, ...problems('conflict') },
      },
    },
    async (request, reply) => {
      const { sessionEntry, clientInfo, body } = request
      const now = app.clock.now()
      const { name, permissions, expiresAt } = body
      const facts = { name, permissions, expiresAt: expiresAt ? new Date(expiresAt) : null }
      const token = await app.db.write(sessionEntry, (tx, { userId }) =>
        createAppToken(tx, { userId, clientInfo }, facts, now),
      )
      return reply.code(201).header('location', `/app-tokens/${token.id}`).send(token)
    },
  )

  app.get(
    '/app-tokens/:id',
    {
      exposeHeadRoute: false,
      config: { versioned: Token, access: { resource: 'app-token', action: 'read' } },
      schema: {
        operationId: 'getAppToken',
        tags,
        summary: 'Read an app token',
        params: UuidParams,
        response: { 200: Token },
      },
    },
    async (request) => {
      const { id } = request.params
      return found(await app.db.read(request.sessionEntry, (tx) => findAppToken(tx, id)))
    },
  )

  app.patch(
    '/app-tokens/:id',
    {
      config: {
        idempotencyKey: true,
        versioned: Token,
        access: { resource: 'app-token', action: 'update' },
      },
      schema: {
        operationId: 'updateAppToken',
        tags,
        summary: 'Change name, permissions or expiry of an app token',
        description: `Applies from its next request. ${recently} \`lastUsedAt\` is part of the ETag, so \`If-Match\` may also fail because the token was used.`,
        params: UuidParams,
        body: Change,
        response: { 200: Token },
      },
    },
    async (request, reply) => {
      const { sessionEntry, clientInfo, params, body } = request
      const now = app.clock.now()
      const { expiresAt, ...fields } = body
      const change = { ...fields, ...(expiresAt && { expiresAt: new Date(expiresAt) }) }
      return found(
        await app.db.write(sessionEntry, async (tx, { userId }) => {
          await reply.ifMatch(() => lockAppToken(tx, params.id))
          return changeAppToken(tx, { userId, clientInfo }, params.id, change, now)
        }),
      )
    },
  )

  app.post(
    '/app-tokens/:id/rotate-secret',
    {
      config: { idempotencyKey: true, access: { resource: 'app-token', action: 'update' } },
      schema: {
        operationId: 'rotateAppToken',
        tags,
        summary: 'Give an app token a new secret; it is returned only here',
        description: `The previous secret ends at once. To change over without a gap, create a second token and delete the first. ${recently} 409 if another request rotates it at the same time.`,
        params: UuidParams,
        body: NoBody,
        response: { 200: WithSecret, ...problems('conflict') },
      },
    },
    async (request) => {
      const { sessionEntry, clientInfo, params } = request
      return found(
        await app.db.write(sessionEntry, (tx, { userId }) =>
          rotateAppToken(tx, { userId, clientInfo }, params.id),
        ),
      )
    },
  )

  app.delete(
    '/app-tokens/:id',
    {
      config: { versioned: Token, access: { resource: 'app-token', action: 'delete' } },
      schema: {
        operationId: 'deleteAppToken',
        tags,
        summary: 'Delete an app token; its next request is refused',
        params: UuidParams,
        response: { 204: NoContent('The token is deleted') },
      },
    },
    async (request, reply) => {
      const { sessionEntry, clientInfo, params } = request
      const deleted = await app.db.write(sessionEntry, async (tx, { userId }) => {
        await reply.ifMatch(() => lockAppToken(tx, params.id))
        return deleteAppToken(tx, { userId, clientInfo }, params.id)
      })
      if (!deleted) throw new Problem('not-found')
      return reply.code(204).send(null)
    },
  )
}

export default appTokens
