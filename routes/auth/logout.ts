import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { deviceOf } from '#src/identity/audit.ts'
import { signOut } from '#src/identity/sign-out.ts'
import { problems } from '#src/shapes.ts'

/** Ends the session first; only then is the cookie cleared. */
const logout: FastifyPluginAsyncTypebox = async function logout(app) {
  app.post(
    '/auth/logout',
    {
      config: { access: 'signed-in' },
      schema: {
        tags: ['sign-in'],
        summary: 'Sign out: 204, or 303 to the start page for a form',
        response: { 204: Type.Null(), 303: Type.Null(), ...problems(401, 403, 429, 503) },
      },
    },
    async (request, reply) => {
      const { caller, session } = request
      const device = deviceOf(request.ip, request.headers['user-agent'])
      await signOut(app.identityPlane, app.queue, session.sessionId, caller, device)
      await session.destroy()
      reply.header('cache-control', 'no-store').clearSessionCookie()
      const isForm = request.headers['content-type']?.startsWith(
        'application/x-www-form-urlencoded',
      )
      return isForm ? reply.redirect('/', 303) : reply.code(204).send(null)
    },
  )
}

export default logout
