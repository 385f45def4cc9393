import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { endProviderSessions } from '#src/auth/sessions/backchannel-logout.ts'
import { problems } from '#src/http/schemas.ts'

const description = `OpenID Connect Back-Channel Logout 1.0. The form's \`logout_token\` is a JWT \
signed by the provider NAME; other parameters are ignored. With \`sid\` it ends the sessions signed \
in from that session at the provider, otherwise all that the user of \`sub\` signed in through this \
provider. 200 also when there is no such session any more; 400 for any fault, for a token received \
before, and while the provider's keys cannot be had. The reason is in the audit log.`

/** Where a provider says that somebody has signed out there. */
const backchannelLogout: FastifyPluginAsyncTypebox = async function backchannelLogout(app) {
  app.post(
    '/auth/backchannel-logout/:provider',
    {
      config: { access: 'signature' },
      schema: {
        tags: ['sign-in'],
        summary: 'Back-channel logout, sent by a provider',
        description,
        consumes: ['application/x-www-form-urlencoded'],
        produces: ['text/plain'],
        params: Type.Object({ provider: Type.String() }),
        response: { 200: Type.Literal(''), ...problems(400, 404, 429, 503) },
      },
    },
    async (request, reply) => {
      const { logout } = request
      if (logout === null) throw new Error('The logout token was not judged.')
      const { provider, token } = logout
      const ended = await endProviderSessions(app.systemDb, provider, token, request.clientInfo)
      if (ended === 'replayed') throw await request.refuseLogout('logout-token-replayed')
      app.metrics.identity.sessionsEnded.inc({ reason: 'provider-request' }, ended)
      request.log.info({ provider, ended }, 'provider logout')
      return reply.type('text/plain').send('')
    },
  )
}

export default backchannelLogout
