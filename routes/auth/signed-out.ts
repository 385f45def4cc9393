import type { FastifyPluginAsync } from 'fastify'
import Type from 'typebox'
import { logoutState, readLogoutState } from '#src/auth/sessions/sign-out.ts'
import { NoContent } from '#src/http/schemas.ts'
import { signedOutPage } from '#src/pages/sign-in/sign-in.ts'

type Options = { signedOutUri: string; secrets: readonly [string, ...string[]] }

const description = `The page after signing out, also the redirect URI of the provider's own \
logout. Any \`state\` is accepted, or none; a valid one adds the provider's name to the page. A \
signed-in user is redirected to the start page.`

/** The page after signing out. It has no query schema, so that no parameter causes an error. */
const signedOut: FastifyPluginAsync<Options> = async function signedOut(
  app,
  { signedOutUri, secrets },
) {
  app.get(
    '/auth/signed-out',
    {
      exposeHeadRoute: false,
      config: { access: 'public' },
      schema: {
        operationId: 'showSignedOutPage',
        tags: ['sign-in'],
        summary: 'The page after signing out',
        description,
        produces: ['text/html'],
        response: {
          200: Type.String({ description: 'The page' }),
          302: NoContent('Signed in; to the start page'),
        },
      },
    },
    async (request, reply) => {
      if (await request.findCaller()) return reply.redirect('/')
      const parameters = new URL(request.url, signedOutUri).searchParams
      const returned = readLogoutState(secrets, parameters.get('state') ?? '')
      const returnedFrom = app.providers.get(returned ?? '')
      const provider = app.providers.get(parameters.get('provider') ?? '')
      const state = logoutState(secrets[0], provider?.setup.name ?? '')
      const url = await provider?.client.endSessionUrl(signedOutUri, state)
      return reply.sendPage(
        signedOutPage({
          cameBackFrom: returnedFrom?.setup.label ?? null,
          offer: provider && url ? { label: provider.setup.label, url: url.href } : null,
        }),
      )
    },
  )
}

export default signedOut
