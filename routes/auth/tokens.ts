import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { tokenPermissions } from '#src/access/roles.ts'
import {
  createOwnToken,
  deleteToken,
  findOwnToken,
  listTokens,
  maxTokens,
  tokenList,
} from '#src/auth/api-tokens/api-tokens.ts'
import { TokenHint } from '#src/auth/program-tokens/schemas.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import {
  Line,
  NoContent,
  Nullable,
  PageOf,
  PageQuery,
  problems,
  Time,
  Uuid,
  UuidParams,
} from '#src/http/schemas.ts'

const ApiToken = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    hint: TokenHint,
    permissions: Nullable(
      Type.Array(Type.String(), {
        description: 'null: all permissions that you have at the time of use',
      }),
    ),
    createdAt: Time,
    expiresAt: Time,
    lastUsedAt: Nullable(Type.String({ ...Time, description: 'To the minute' })),
  },
  { title: 'ApiToken' },
)

const NewToken = Type.Object(
  {
    name: Line(100),
    expiresAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'In the future, at most 366 days ahead; 90 days by default',
      }),
    ),
    permissions: Type.Optional(
      Type.Array(Type.String({ enum: [...tokenPermissions] }), {
        uniqueItems: true,
        maxItems: tokenPermissions.length,
        description:
          'The permissions of the token; GET /me is always allowed. All your permissions by default.',
      }),
    ),
  },
  { title: 'NewApiToken', additionalProperties: false },
)

const tags = ['API tokens']

/** The caller's API tokens. They are managed with a session; a token cannot create tokens. */
const tokens: FastifyPluginAsyncTypebox = async function tokens(app) {
  app.post(
    '/auth/tokens',
    {
      config: { idempotencyKey: true, access: { resource: 'token', action: 'create' } },
      schema: {
        operationId: 'createApiToken',
        tags,
        summary: 'Create an API token for your active tenant; its secret is returned only here',
        description: `Sent as \`Authorization: Bearer gth_…\`, not together with a session cookie (400). It acts for you in the tenant that is active now, with your role at the time of use, and ends with your membership there. Creating one requires a sign-in or re-authentication (\`/auth/login?reauthenticate=true\`) within the last five minutes; otherwise 403 \`/docs/errors/reauthentication-required\`. 409 if you have ${maxTokens} tokens.`,
        body: NewToken,
        response: {
          201: Type.Object(
            { ...ApiToken.properties, token: Type.String() },
            { title: 'ApiTokenWithSecret' },
          ),
          ...problems('conflict'),
        },
      },
    },
    async (request, reply) => {
      const { sessionEntry, clientInfo, body } = request
      const { name, expiresAt, permissions = null } = body
      const wanted = { name, expiresAt: expiresAt ? new Date(expiresAt) : null, permissions }
      const token = await app.db.write(sessionEntry, (tx, caller) =>
        createOwnToken(tx, caller, wanted, clientInfo),
      )
      if (token === null) {
        const detail = 'expiresAt must be in the future, at most 366 days ahead.'
        throw new Problem('malformed', { detail })
      }
      return reply.code(201).header('location', `/auth/tokens/${token.id}`).send(token)
    },
  )

  app.get(
    '/auth/tokens',
    {
      exposeHeadRoute: false,
      config: { access: { resource: 'token', action: 'read' } },
      schema: {
        operationId: 'listApiTokens',
        tags,
        summary: 'Your API tokens in all your tenants, newest first',
        description: 'Expired tokens are listed for another 30 days.',
        querystring: PageQuery,
        response: { 200: PageOf(ApiToken) },
      },
    },
    async (request) => {
      const page = readPage(request.query, tokenList.name, tokenList.forms)
      return app.db.read(request.sessionEntry, (tx, caller) => listTokens(tx, caller, page))
    },
  )

  app.get(
    '/auth/tokens/:id',
    {
      exposeHeadRoute: false,
      config: { access: { resource: 'token', action: 'read' } },
      schema: {
        operationId: 'getApiToken',
        tags,
        summary: 'One of your API tokens',
        params: UuidParams,
        response: { 200: ApiToken },
      },
    },
    async (request) => {
      const { id } = request.params
      return found(
        await app.db.read(request.sessionEntry, (tx, caller) => findOwnToken(tx, caller, id)),
      )
    },
  )

  app.delete(
    '/auth/tokens/:id',
    {
      config: { access: { resource: 'token', action: 'delete' } },
      schema: {
        operationId: 'deleteApiToken',
        tags,
        summary: 'Delete an API token; its next request is refused',
        params: UuidParams,
        response: { 204: NoContent('The token is deleted') },
      },
    },
    async (request, reply) => {
      const { sessionEntry, clientInfo, params } = request
      const deleted = await app.db.write(sessionEntry, (tx, caller) =>
        deleteToken(tx, caller, params.id, clientInfo),
      )
      if (!deleted) throw new Problem('not-found')
      return reply.code(204).send(null)
    },
  )
}

export default tokens
