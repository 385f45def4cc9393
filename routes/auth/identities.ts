import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { identityList, listIdentities, unlinkIdentity } from '#src/auth/sign-in/identities.ts'
import { toProviderProblem } from '#src/auth/sign-in/problems.ts'
import { startOwn } from '#src/auth/sign-in/start.ts'
import { readPage } from '#src/http/pagination.ts'
import { isForm } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { PageOf, PageQuery, problems, Time } from '#src/http/schemas.ts'

const Identity = Type.Object({
  provider: Type.String(),
  subject: Type.String({ description: 'What the provider calls you (`sub`)' }),
  issuer: Type.String(),
  createdAt: Time,
})

const ProviderParams = Type.Object(
  { provider: Type.String({ pattern: '^[a-z][a-z0-9_]*$', maxLength: 64 }) },
  { additionalProperties: false },
)
const IdentityParams = Type.Object(
  { ...ProviderParams.properties, subject: Type.String({ pattern: '^[ -~]{1,255}$' }) },
  { additionalProperties: false },
)

const tags = ['account']
const recentDescription =
  'Only within five minutes of signing in or confirming (`/auth/login?reauthenticate=true`); otherwise 403 `urn:gatehouse:problem:reauthentication-required`.'

/** The ways to sign in to one's account: see them, add one, take one away. */
const identities: FastifyPluginAsyncTypebox<{ redirectUri: string }> = async function identities(
  app,
  { redirectUri },
) {
  app.get(
    '/auth/identities',
    {
      exposeHeadRoute: false,
      config: { access: 'session' },
      schema: {
        tags,
        summary: 'The ways you can sign in',
        querystring: PageQuery,
        response: { 200: PageOf(Identity), ...problems(400, 401, 403, 429, 503) },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const page = readPage(request.query, identityList.name, identityList.forms)
      const owner = request.ownerScope
      return app.db.read(owner, (tx) => listIdentities(tx, owner, page))
    },
  )

  app.post(
    '/auth/identities/:provider',
    {
      config: { access: 'recent-session' },
      schema: {
        tags,
        summary: 'Link a further way to sign in: where to go, as 302 for a form, else as JSON',
        description: recentDescription,
        params: ProviderParams,
        response: {
          200: Type.Object({ url: Type.String({ description: 'Send the browser here' }) }),
          302: Type.Null(),
          ...problems(400, 401, 403, 404, 429, 503),
        },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const provider = app.providers.get(request.params.provider)?.client
      if (provider === undefined) throw new Problem('not-found')
      const { userId, sessionId } = request.sessionCaller
      const start = { provider, redirectUri, clientInfo: request.clientInfo }
      const purpose = { kind: 'link', userId } as const
      const url = await startOwn(app.systemDb, start, sessionId, purpose).catch((error) => {
        throw toProviderProblem(error, 'link')
      })
      if (url === null) throw new Problem('unauthenticated')
      if (isForm(request.headers['content-type'])) return reply.redirect(url.href)
      return { url: url.href }
    },
  )

  app.delete(
    '/auth/identities/:provider/:subject',
    {
      config: { access: 'recent-session' },
      schema: {
        tags,
        summary: 'Take a way to sign in away; other sessions that came by its provider end',
        description: `${recentDescription} The last way to sign in stays: 409.`,
        params: IdentityParams,
        response: { 204: Type.Null(), ...problems(400, 401, 403, 404, 409, 429, 503) },
      },
    },
    async (request, reply) => {
      const { systemDb, queue } = app
      const { sessionCaller, params } = request
      const outcome = await unlinkIdentity(
        systemDb,
        queue,
        sessionCaller,
        params,
        request.clientInfo,
      )
      if (outcome === 'missing') throw new Problem('not-found')
      if (outcome === 'last') throw new Problem('last-sign-in-method')
      return reply.code(204).send(null)
    },
  )
}

export default identities
