import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { deviceOf } from '#src/audit.ts'
import { Refusal } from '#src/errors.ts'
import type { SessionCaller } from '#src/identity/caller.ts'
import { ProviderUnavailable } from '#src/identity/refusal.ts'
import { refusalOfProvider } from '#src/identity/refusal-answers.ts'
import { startOwn, startSignIn } from '#src/identity/start-sign-in.ts'
import { signInPage } from '#src/pages/sign-in.ts'
import { problems } from '#src/shapes.ts'

const LoginQuery = Type.Object(
  {
    provider: Type.Optional(Type.String({ maxLength: 64 })),
    reauthenticate: Type.Optional(
      Type.Literal('true', {
        description:
          'Confirm in the current session who you are: the provider asks again, and only an identity of yours counts',
      }),
    ),
  },
  { additionalProperties: false },
)

/** Sign-in start: state, nonce and verifier are stored with the browser's session, then 302. */
const login: FastifyPluginAsyncTypebox<{ redirectUri: string }> = async function login(
  app,
  { redirectUri },
) {
  const plane = app.identityPlane

  app.get(
    '/auth/login',
    {
      exposeHeadRoute: false,
      config: { access: 'public' },
      schema: {
        tags: ['sign-in'],
        summary: 'Start a sign-in; redirects to the provider',
        produces: ['text/html'],
        querystring: LoginQuery,
        response: {
          200: Type.String(),
          302: Type.Null(),
          ...problems(400, 401, 403, 404, 429, 503),
        },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const purpose = `${request.headers['sec-purpose'] ?? ''}${request.headers.purpose ?? ''}`
      if (purpose.includes('prefetch')) throw new Refusal('prefetch-refused')
      const { provider, reauthenticate } = request.query
      const anew = reauthenticate !== undefined
      const { caller } = request.session
      if (anew && !caller) throw new Refusal('unauthenticated')
      const name = provider ?? onlyOne([...app.providers.keys()])
      if (name === null) {
        const choices = [...app.providers.values()].map(({ setup }) => setup)
        return reply.type('text/html; charset=utf-8').send(signInPage(choices, anew))
      }
      const url = await start(request, name, anew ? caller : null).catch((error) => {
        if (error instanceof ProviderUnavailable) countUnavailable(name, anew, error.reason)
        throw refusalOfProvider(error)
      })
      if (url === null) throw new Refusal('unauthenticated')
      return reply.redirect(url.href)
    },
  )

  function countUnavailable(provider: string, anew: boolean, reason: string): void {
    const purpose = anew ? 'reauthenticate' : 'sign-in'
    app.metrics.identity.signIns.inc({ provider, purpose, outcome: 'unavailable', reason })
  }

  /** @param confirming who has to confirm who they are; null or undefined for a sign-in */
  async function start(
    request: FastifyRequest,
    name: string,
    confirming: SessionCaller | null | undefined,
  ): Promise<URL | null> {
    const provider = app.providers.get(name)?.client
    if (provider === undefined) throw new Refusal('not-found')
    const device = deviceOf(request.ip, request.headers['user-agent'])
    const start = { provider, redirectUri, device }
    if (confirming) {
      const { userId, sessionId } = confirming
      return startOwn(plane, start, sessionId, { kind: 'reauthenticate', userId })
    }
    const { live, sessionId } = request.session
    if (!live) request.announceSession()
    return startSignIn(plane, start, sessionId)
  }
}

function onlyOne(names: readonly string[]): string | null {
  return names.length === 1 ? (names[0] ?? null) : null
}

export default login
