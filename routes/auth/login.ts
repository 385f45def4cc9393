import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { Refusal } from '#src/errors.ts'
import { storeAttempt } from '#src/identity/attempts.ts'
import { deviceOf, recordAudit } from '#src/identity/audit.ts'
import { randomPending } from '#src/identity/provider.ts'
import { ProviderUnavailable } from '#src/identity/refusal.ts'
import { signInPage } from '#src/pages/sign-in.ts'
import { problems } from '#src/shapes.ts'

/** Sign-in start: state, nonce and verifier are stored with the browser's session, then 302. */
const login: FastifyPluginAsyncTypebox<{ redirectUri: string }> = async function login(
  app,
  { redirectUri },
) {
  app.get(
    '/auth/login',
    {
      exposeHeadRoute: false,
      config: { access: 'public' },
      schema: {
        tags: ['sign-in'],
        summary: 'Start a sign-in; redirects to the provider',
        querystring: Type.Object(
          { provider: Type.Optional(Type.String({ maxLength: 64 })) },
          { additionalProperties: false },
        ),
        response: { 200: Type.String(), 302: Type.Null(), ...problems(400, 403, 404, 429, 503) },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const purpose = `${request.headers['sec-purpose'] ?? ''}${request.headers.purpose ?? ''}`
      if (purpose.includes('prefetch')) throw new Refusal('prefetch-refused')
      const name = request.query.provider ?? onlyOne([...app.providers.keys()])
      if (name === null) {
        const choices = [...app.providers.values()].map(({ setup }) => setup)
        return reply.type('text/html; charset=utf-8').send(signInPage(choices))
      }
      const provider = app.providers.get(name)
      if (provider === undefined) throw new Refusal('not-found')
      const device = deviceOf(request.ip, request.headers['user-agent'])
      const pending = randomPending()
      try {
        if (!request.session.live) request.announceSession()
        const url = await provider.client.authorizationUrl(pending, redirectUri)
        await storeAttempt(
          app.identityPlane,
          request.session.sessionId,
          { provider: name, ...pending },
          device,
        )
        return reply.redirect(url.href)
      } catch (error) {
        if (!(error instanceof ProviderUnavailable)) throw error
        await recordAudit(
          app.identityPlane,
          { action: 'sign-in', outcome: 'unavailable', reason: error.reason, provider: name },
          device,
        )
        throw new Refusal('unavailable', {
          detail: 'The identity provider cannot be reached. Try again in a moment.',
          retryAfterSeconds: error.retryAfterSeconds,
        })
      }
    },
  )
}

function onlyOne(names: readonly string[]): string | null {
  return names.length === 1 ? (names[0] ?? null) : null
}

export default login
