import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { NoContent, problems } from '#src/http/schemas.ts'
import { signInPath } from '#src/pages/sign-in/sign-in.ts'

const text = (description: string) => Type.String({ description })

const start = {
  tags: ['sign-in'],
  summary: 'Start a sign-in, by a path and the parameter of oauth2-proxy',
  querystring: Type.Object(
    {
      rd: Type.Optional(
        text('As `return_to` of `/auth/login`; it may begin with the origin of `BASE_URL`'),
      ),
    },
    { additionalProperties: false },
  ),
  headers: Type.Object({
    'x-auth-request-redirect': Type.Optional(text('The same, without `rd`')),
  }),
  response: { 302: NoContent('To `/auth/login`'), ...problems(400) },
}

/** `/auth/login` by the names of oauth2-proxy. */
const oauth2ProxyStart: FastifyPluginAsyncTypebox<{ baseUrl: string }> =
  async function oauth2ProxyStart(app, { baseUrl }) {
    for (const [operationId, path] of [
      ['startLikeOauthProxy', '/oauth2/start'],
      ['signInLikeOauthProxy', '/oauth2/sign_in'],
    ] as const) {
      const options = { exposeHeadRoute: false, config: { access: 'public' } } as const
      app.get(path, { ...options, schema: { ...start, operationId } }, async (request, reply) => {
        const wanted = request.query.rd ?? request.headers['x-auth-request-redirect']
        const isOurs = wanted?.startsWith(`${baseUrl}/`)
        const returnTo = app.allowedReturn(isOurs ? wanted?.slice(baseUrl.length) : wanted)
        return reply.redirect(signInPath({ returnTo }))
      })
    }
  }

export default oauth2ProxyStart
