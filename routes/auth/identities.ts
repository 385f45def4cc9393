import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import {
  identityActions,
  ProviderParams,
  recentDescription,
} from '#src/auth/sign-in/identity-actions.ts'
import { toProviderProblem } from '#src/auth/sign-in/problems.ts'
import { prepareSignIn } from '#src/auth/sign-in/start.ts'
import { storeSignInState } from '#src/auth/sign-in/state.ts'
import { isForm } from '#src/http/headers/media-type.ts'
import { Problem } from '#src/http/problems.ts'
import { NoContent } from '#src/http/schemas.ts'

type Options = { redirectUri: string }

const tags = ['account']

/** The identities of the caller's account: list, link, unlink. */
const identities: FastifyPluginAsyncTypebox<Options> = async function identities(
  app,
  { redirectUri },
) {
  const { list, unlink } = identityActions(app.queue)
  app.api('GET /auth/identities', list, { entryOf, head: false })

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

  app.api('DELETE /auth/identities/:provider/:subject', unlink, { entryOf, personalPath: true })
}

const entryOf = ({ sessionEntry }: FastifyRequest) => sessionEntry

export default identities
