import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { identityList, listIdentities, unlinkIdentity } from '#src/auth/sign-in/identities.ts'
import { toProviderProblem } from '#src/auth/sign-in/problems.ts'
import { prepareSignIn } from '#src/auth/sign-in/start.ts'
import { storeSignInState } from '#src/auth/sign-in/state.ts'
import { isForm } from '#src/http/headers/media-type.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import { NoContent, PageOf, PageQuery, problems, Time } from '#src/http/schemas.ts'

type Options = { redirectUri: string }

const Identity = Type.Object(
  {
    provider: Type.String(),
    subject: Type.String({ description: 'Your id at the provider (`sub`)' }),
    issuer: Type.String(),
    createdAt: Time,
  },
  { title: 'Identity' },
)

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
  'Requires a sign-in or re-authentication (`/auth/login?reauthenticate=true`) within the last five minutes; otherwise 403 `/docs/errors/reauthentication-required`.'

/** The identities of the caller's account: list, link, unlink. */
const identities: FastifyPluginAsyncTypebox<Options> = async function identities(
  app,
  { redirectUri },
) {
  app.get(
    '/auth/identities',
    {
      exposeHeadRoute: false,
      config: { access: { resource: 'identity', action: 'read' } },
      schema: {
        operationId: 'listIdentities',
        tags,
        summary: 'The identities that you can sign in with',
        querystring: PageQuery,
        response: { 200: PageOf(Identity) },
      },
    },
    async (request) => {
      const page = readPage(request.query, identityList.name, identityList.forms)
      return app.db.read(request.sessionEntry, (tx, caller) => listIdentities(tx, caller, page))
    },
  )

  app.post(
    '/auth/identities/:provider',
    {
      config: {
        idempotencyKey: false,
        access: { resource: 'identity', action: 'create' },
        acceptsForm: true,
      },
      schema: {
        operationId: 'linkIdentity',
        tags,
        summary: 'Start linking another identity: 302 for a form, otherwise the URL as JSON',
        description: recentDescription,
        params: ProviderParams,
        response: {
          200: Type.Object(
            { url: Type.String({ description: 'Redirect the browser here' }) },
            { title: 'IdentityLink' },
          ),
          302: NoContent('For a form: to the provider'),
        },
      },
    },
    async (request, reply) => {
      const provider = app.providers.get(request.params.provider)?.client
      if (provider === undefined) throw new Problem('not-found')
      const { caller, session, clientInfo } = request
      const start = { provider, redirectUri, returnTo: null, clientInfo, extras: {} }
      const purpose = { kind: 'link', userId: caller.userId } as const
      const { url, state } = await prepareSignIn(app.refusals, start, purpose).catch((error) => {
        throw toProviderProblem(error, 'link', null)
      })
      const isStored = await app.db.write(request.sessionEntry, (tx) =>
        storeSignInState(tx, session.sessionId, state, clientInfo),
      )
      if (!isStored) throw new Problem('unauthenticated')
      if (isForm(request.headers['content-type'])) return reply.redirect(url.href)
      return { url: url.href }
    },
  )

  app.delete(
    '/auth/identities/:provider/:subject',
    {
      config: { access: { resource: 'identity', action: 'delete' }, personalPath: true },
      schema: {
        operationId: 'unlinkIdentity',
        tags,
        summary: 'Unlink an identity; ends your other sessions signed in through its provider',
        description: `${recentDescription} 409 for the last identity.`,
        params: IdentityParams,
        response: {
          204: NoContent('The identity is unlinked'),
          ...problems('last-sign-in-method'),
        },
      },
    },
    async (request, reply) => {
      const { sessionEntry, params, clientInfo } = request
      const outcome = await app.db.write(sessionEntry, (tx, caller) =>
        unlinkIdentity(tx, app.queue, caller, params, clientInfo),
      )
      if (outcome === 'missing') throw new Problem('not-found')
      if (outcome === 'last') throw new Problem('last-sign-in-method')
      return reply.code(204).send(null)
    },
  )
}

export default identities
