import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { logoutState, signOut } from '#src/auth/sessions/sign-out.ts'
import { withoutLocks } from '#src/db/entry.ts'
import { isForm } from '#src/http/headers/media-type.ts'
import { NoContent } from '#src/http/schemas.ts'

type Options = { signedOutUri: string; secrets: readonly [string, ...string[]] }

const description = `A form is answered with 303 to the signed-out page. If the provider of the \
sign-in supports RP-initiated logout, that page offers it, and the 204 response has \`Link: <…>; \
rel="urn:gatehouse:provider-logout"\`: redirect the browser there; it comes back to \
\`/auth/signed-out\`. The session here ends in any case, also if the provider does not answer.`

/** Ends the session, then clears the cookie and offers the provider's logout. */
const logout: FastifyPluginAsyncTypebox<Options> = async function logout(
  app,
  { signedOutUri, secrets },
) {
  app.post(
    '/auth/logout',
    {
      config: { access: { resource: 'session', action: 'delete' }, acceptsForm: true },
      schema: {
        operationId: 'signOut',
        tags: ['sign-in'],
        summary: 'Sign out: 303 to a page for a form, otherwise 204',
        description,
        response: {
          204: NoContent('The session has ended'),
          303: NoContent('For a form: to the page after signing out'),
        },
      },
    },
    async (request, reply) => {
      const { sessionEntry, session, clientInfo } = request
      const name = await app.db.write(withoutLocks(sessionEntry), (tx, caller) =>
        signOut(tx, app.queue, caller, clientInfo),
      )
      app.metrics.identity.sessionsEnded.inc({ reason: 'sign-out' })
      await session.destroy()
      reply.clearSessionCookie()
      if (isForm(request.headers['content-type'])) {
        const query = name === null ? '' : `?provider=${encodeURIComponent(name)}`
        return reply.redirect(`/auth/signed-out${query}`, 303)
      }
      const provider = name === null ? undefined : app.providers.get(name)
      const state = logoutState(secrets[0], provider?.setup.name ?? '')
      const url = await provider?.client.endSessionUrl(signedOutUri, state)
      if (url) reply.header('link', `<${url.href}>; rel="urn:gatehouse:provider-logout"`)
      return reply.code(204).send(null)
    },
  )
}

export default logout
