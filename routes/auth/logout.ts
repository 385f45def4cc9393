import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { logoutState } from '#src/auth/sessions/backchannel-logout.ts'
import { signOut } from '#src/auth/sessions/sign-out.ts'
import { problems } from '#src/http/schemas.ts'

type Options = { signedOutUri: string; secrets: readonly [string, ...string[]] }

const description = `A form is answered with 303 to a page that says so. Where the provider the \
session was signed in through can end the browser's session there too, that page offers it, and \
the 204 carries \`Link: <…>; rel="urn:gatehouse:provider-logout"\`: send the browser there, it \
comes back to \`/auth/signed-out\`. The session here has ended in any case, also when the provider \
does not answer.`

/** Ends the session first; only then is the cookie cleared, and the provider's logout offered. */
const logout: FastifyPluginAsyncTypebox<Options> = async function logout(app, options) {
  const { signedOutUri, secrets } = options

  app.post(
    '/auth/logout',
    {
      config: { access: 'session' },
      schema: {
        tags: ['sign-in'],
        summary: 'Sign out: 204, or 303 to a page for a form',
        description,
        response: { 204: Type.Null(), 303: Type.Null(), ...problems(401, 403, 429, 503) },
      },
    },
    async (request, reply) => {
      const { sessionCaller, session } = request
      const name = await signOut(app.systemDb, app.queue, sessionCaller, request.clientInfo)
      app.metrics.identity.sessionsEnded.inc({ reason: 'sign-out' })
      await session.destroy()
      reply.header('cache-control', 'no-store').clearSessionCookie()
      const isForm = request.headers['content-type']?.startsWith(
        'application/x-www-form-urlencoded',
      )
      if (isForm) {
        const query = name === null ? '' : `?provider=${encodeURIComponent(name)}`
        return reply.redirect(`/auth/signed-out${query}`, 303)
      }
      const left = name === null ? undefined : app.providers.get(name)
      const state = logoutState(secrets[0], left?.setup.name ?? '')
      const url = await left?.client.endSessionUrl(signedOutUri, state)
      if (url) reply.header('link', `<${url.href}>; rel="urn:gatehouse:provider-logout"`)
      return reply.code(204).send(null)
    },
  )
}

export default logout
