import type { FastifyPluginAsync } from 'fastify'
import Type from 'typebox'
import { logoutState, readLogoutState } from '#src/auth/sessions/backchannel-logout.ts'
import { problems } from '#src/http/schemas.ts'
import { signedOutPage } from '#src/pages/sign-in.ts'

type Options = { signedOutUri: string; secrets: readonly [string, ...string[]] }

const description = `After signing out, and where a provider sends the browser back to after its \
own logout. Whatever \`state\` it brings, none included, the answer is the same kind of page; a \
state of ours only adds which provider it was. Somebody who is signed in goes to the start page.`

/** The page after signing out. No query schema: no parameter may stand in its way. */
const signedOut: FastifyPluginAsync<Options> = async function signedOut(app, options) {
  const { signedOutUri, secrets } = options

  app.get(
    '/auth/signed-out',
    {
      exposeHeadRoute: false,
      config: { access: 'public' },
      schema: {
        tags: ['sign-in'],
        summary: 'The page after signing out',
        description,
        produces: ['text/html'],
        response: { 200: Type.String(), 302: Type.Null(), ...problems(429, 503) },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      if (request.session.caller) return reply.redirect('/')
      const parameters = new URL(request.url, signedOutUri).searchParams
      const back = app.providers.get(readLogoutState(secrets, parameters.get('state') ?? '') ?? '')
      const left = app.providers.get(parameters.get('provider') ?? '')
      const url = await left?.client.endSessionUrl(
        signedOutUri,
        logoutState(secrets[0], left.setup.name),
      )
      return reply.type('text/html; charset=utf-8').send(
        signedOutPage({
          cameBackFrom: back?.setup.label ?? null,
          offer: left && url ? { label: left.setup.label, url: url.href } : null,
        }),
      )
    },
  )
}

export default signedOut
