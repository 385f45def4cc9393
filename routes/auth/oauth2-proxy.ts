import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { IdentityTokens } from '#src/auth/forward-auth/identity-token.ts'
import { problems } from '#src/http/schemas.ts'
import { answerQuestion, Demand, Forwarded, headersOf, textsOf, told } from './verify.ts'

const text = (description: string) => Type.String({ description })

const toldAlso = {
  'x-auth-request-user': text('As `gatehouse-user`'),
  'x-auth-request-email': text('As `gatehouse-email`'),
  'x-auth-request-groups': text('As `gatehouse-role`'),
}

/** `/auth/verify` by the names of oauth2-proxy, for proxies that are configured for it. */
const oauth2Proxy: FastifyPluginAsyncTypebox<{ tokens: IdentityTokens }> =
  async function oauth2Proxy(app, { tokens }) {
    app.get(
      '/oauth2/auth',
      {
        exposeHeadRoute: false,
        config: {
          access: { resource: 'verification', action: 'read' },
          forwardsHeaders: true,
          takesNoRedirect: true, // oauth2-proxy answers 401, whatever is opened
        },
        schema: {
          operationId: 'verifyLikeOauth2Proxy',
          tags: ['sign-in'],
          summary:
            'Ask as `/auth/verify`, by the path of oauth2-proxy; answers with its status and headers',
          produces: ['text/plain'],
          querystring: Demand,
          headers: Forwarded,
          response: {
            202: Type.String({
              description: 'The request may pass',
              headers: { ...told, ...toldAlso },
            }),
            ...problems('cross-origin', 'forbidden'),
          },
        },
      },
      async (request, reply) => {
        const { identity, token } = await answerQuestion(request, tokens)
        const { userId, email, role } = identity
        const also = textsOf({
          'x-auth-request-user': userId,
          'x-auth-request-email': email,
          'x-auth-request-groups': role,
        })
        return reply
          .code(202)
          .headers({ ...headersOf(identity, token), ...also })
          .type('text/plain')
          .send('')
      },
    )
  }

export default oauth2Proxy
