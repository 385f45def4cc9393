import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { endProviderSessions } from '#src/auth/sessions/backchannel-logout.ts'
import { problems } from '#src/http/schemas.ts'

const description = `OpenID Connect Back-Channel Logout 1.0. The form parameter \`logout_token\` is \
a JWT signed by the provider; other parameters are ignored. With \`sid\` the request ends the \
sessions signed in from that session at the provider, otherwise all sessions that the user of \
\`sub\` signed in through this provider. The response is 200 also if there is no such session, and \
400 for an invalid token, for a token that was used before and if the provider's keys cannot be \
fetched. The reason is in the audit log.`

/** Back-channel logout, called by providers. */
const backchannelLogout: FastifyPluginAsyncTypebox = async function backchannelLogout(app) {
  app.post(
    '/auth/backchannel-logout/:provider',
    {
      config: { access: 'signature' },
      schema: {
        operationId: 'receiveBackchannelLogout',
        tags: ['sign-in'],
        summary: 'Back-channel logout, sent by a provider',
        description,
        consumes: ['application/x-www-form-urlencoded'],
        produces: ['text/plain'],
        params: Type.Object({
          provider: Type.String({ description: 'Name of the sign-in provider that sends it' }),
        }),
        response: {
          200: Type.Literal('', { description: 'The sessions have ended' }),
          ...problems('logout-refused'),
        },
      },
    },
    async (request, reply) => {
      const { logout } = request
      if (logout === null) throw new Error('The logout token was not verified.')
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
