import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { tokenPermissions } from '#src/access/roles.ts'
import {
  createOwnToken,
  deleteToken,
  findOwnToken,
  listTokens,
  tokenList,
} from '#src/auth/api-tokens/api-tokens.ts'
import { readPage } from '#src/http/pagination.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import {
  Line,
  Nullable,
  PageOf,
  PageQuery,
  problems,
  Time,
  Uuid,
  UuidParams,
} from '#src/http/schemas.ts'

const ApiToken = Type.Object({
  id: Uuid,
  name: Type.String(),
  permissions: Nullable(
    Type.Array(Type.String(), { description: 'null: all that you may, at any time' }),
  ),
  createdAt: Time,
  expiresAt: Time,
  lastUsedAt: Nullable(Type.String({ ...Time, description: 'To the minute' })),
})

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
        description: 'All it can do beside GET /me; without it, all that you may',
      }),
    ),
  },
  { additionalProperties: false },
)

const tags = ['account']

/** API tokens of one's own, for programs. Only a session manages them: no token makes a token. */
const tokens: FastifyPluginAsyncTypebox = async function tokens(app) {
  const systemDb = app.systemDb

  app.post(
    '/auth/tokens',
    {
      config: { access: 'session' },
      schema: {
        tags,
        summary: 'Make an API token for your active tenant; it is shown this once',
        description:
          'Used as `Authorization: Bearer gth_…`, never beside a session cookie (400). It acts for you in the tenant that is active now, with the role you have at the time of use, and ends with your membership there.',
        body: NewToken,
        response: {
          201: Type.Object({ ...ApiToken.properties, token: Type.String() }),
          ...problems(400, 401, 403, 429, 503),
        },
      },
    },
    async (request, reply) => {
      const { name, expiresAt, permissions = null } = request.body
      const wanted = { name, expiresAt: readTime(expiresAt), permissions }
      const token = await createOwnToken(
        systemDb,
        request.sessionCaller,
        wanted,
        request.clientInfo,
      )
      if (token === null) throw badExpiry()
      return reply.header('cache-control', 'no-store').code(201).send(token)
    },
  )

  app.get(
    '/auth/tokens',
    {
      exposeHeadRoute: false,
      config: { access: 'session' },
      schema: {
        tags,
        summary: 'Your API tokens in all your tenants, newest first',
        description: 'Expired ones are listed for 30 more days.',
        querystring: PageQuery,
        response: { 200: PageOf(ApiToken), ...problems(400, 401, 403, 429, 503) },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const page = readPage(request.query, tokenList.name, tokenList.forms)
      const owner = request.ownerScope
      return app.db.read(owner, (tx) => listTokens(tx, owner, page))
    },
  )

  app.get(
    '/auth/tokens/:id',
    {
      exposeHeadRoute: false,
      config: { access: 'session' },
      schema: {
        tags,
        summary: 'One of your API tokens',
        params: UuidParams,
        response: { 200: ApiToken, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const owner = request.ownerScope
      const { id } = request.params
      return found(await app.db.read(owner, (tx) => findOwnToken(tx, owner, id)))
    },
  )

  app.delete(
    '/auth/tokens/:id',
    {
      config: { access: 'session' },
      schema: {
        tags,
        summary: 'End an API token; its next request is refused',
        params: UuidParams,
        response: { 204: Type.Null(), ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request, reply) => {
      const deleted = await deleteToken(
        systemDb,
        request.sessionCaller,
        request.params.id,
        request.clientInfo,
      )
      if (!deleted) throw new Problem('not-found')
      return reply.code(204).send(null)
    },
  )
}

/** The schema's format lets a leap second through, which no Date can say. */
function readTime(text: string | undefined): Date | null {
  if (text === undefined) return null
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) throw badExpiry()
  return time
}

function badExpiry(): Problem {
  return new Problem('malformed', {
    detail: 'expiresAt must be in the future, at most 366 days ahead.',
  })
}

export default tokens
