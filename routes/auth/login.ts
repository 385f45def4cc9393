import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import type { SessionCaller } from '#src/auth/sessions/caller.ts'
import { toProviderProblem } from '#src/auth/sign-in/problems.ts'
import { startOwn, startSignIn } from '#src/auth/sign-in/start.ts'
import { Problem } from '#src/http/problems.ts'
import { problems } from '#src/http/schemas.ts'
import { signInPage } from '#src/pages/sign-in.ts'

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
  const systemDb = app.systemDb

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
      if (purpose.includes('prefetch')) throw new Problem('prefetch-refused')
      const { provider, reauthenticate } = request.query
      const anew = reauthenticate !== undefined
      const { caller } = request.session
      if (anew && !caller) throw new Problem('unauthenticated')
      const name = provider ?? onlyOne([...app.providers.keys()])
      if (name === null) {
        const page = signInPage(app.signInChoices(), anew)
        return reply.type('text/html; charset=utf-8').send(page)
      }
      const url = await start(request, name, anew ? caller : null).catch((error) => {
        if (error instanceof ProviderUnavailable) countUnavailable(name, anew, error.reason)
        throw toProviderProblem(error, anew ? 'reauthenticate' : 'sign-in')
      })
      if (url === null) throw new Problem('unauthenticated')
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
    if (provider === undefined) throw new Problem('not-found')
    const start = { provider, redirectUri, clientInfo: request.clientInfo }
    if (confirming) {
      const { userId, sessionId } = confirming
      return startOwn(systemDb, start, sessionId, { kind: 'reauthenticate', userId })
    }
    const { live, sessionId } = request.session
    if (!live) request.announceSession()
    return startSignIn(systemDb, start, sessionId)
  }
}

function onlyOne(names: readonly string[]): string | null {
  return names.length === 1 ? (names[0] ?? null) : null
}

export default login
