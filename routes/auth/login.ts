import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import type { SessionCaller } from '#src/auth/sessions/caller.ts'
import { toProviderProblem } from '#src/auth/sign-in/problems.ts'
import { startInSession, startSignIn } from '#src/auth/sign-in/start.ts'
import { Problem } from '#src/http/problems.ts'
import { problems } from '#src/http/schemas.ts'
import { signInPage } from '#src/pages/sign-in.ts'

type Options = { redirectUri: string }

const LoginQuery = Type.Object(
  {
    provider: Type.Optional(Type.String({ maxLength: 64 })),
    reauthenticate: Type.Optional(
      Type.Literal('true', {
        description:
          'Authenticate again in the current session, with an identity linked to your account',
      }),
    ),
  },
  { additionalProperties: false },
)

/** Starts a sign-in: stores state, nonce and code verifier in the browser's session, then 302. */
const login: FastifyPluginAsyncTypebox<Options> = async function login(app, options) {
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
    startLogin(options),
  )
}

function startLogin({ redirectUri }: Options) {
  return async function startLogin(
    this: FastifyInstance,
    request: FastifyRequest<{ Querystring: Static<typeof LoginQuery> }>,
    reply: FastifyReply,
  ) {
    reply.header('cache-control', 'no-store')
    if (isPrefetch(request)) throw new Problem('prefetch-refused')
    const { provider, reauthenticate } = request.query
    const caller = reauthenticate === undefined ? null : request.session.caller
    if (reauthenticate !== undefined && !caller) throw new Problem('unauthenticated')
    const purpose = caller ? 'reauthenticate' : 'sign-in'
    const name = provider ?? singleName([...this.providers.keys()])
    if (name === null) {
      const page = signInPage(this.signInChoices(), reauthenticate !== undefined)
      return reply.type('text/html; charset=utf-8').send(page)
    }
    const url = await redirectUrl(this, request, { name, redirectUri, caller }).catch((error) => {
      if (error instanceof ProviderUnavailable) {
        const unavailable = { outcome: 'unavailable', reason: error.reason }
        this.metrics.identity.signIns.inc({ provider: name, purpose, ...unavailable })
      }
      throw toProviderProblem(error, purpose)
    })
    if (url === null) throw new Problem('unauthenticated')
    return reply.redirect(url.href)
  }
}

function isPrefetch({ headers }: FastifyRequest): boolean {
  return `${headers['sec-purpose'] ?? ''}${headers.purpose ?? ''}`.includes('prefetch')
}

/** @param login `caller`: who authenticates again; null or undefined for a sign-in */
async function redirectUrl(
  { providers, systemDb }: FastifyInstance,
  request: FastifyRequest,
  login: { name: string; redirectUri: string; caller: SessionCaller | null | undefined },
): Promise<URL | null> {
  const { name, redirectUri, caller } = login
  const provider = providers.get(name)?.client
  if (provider === undefined) throw new Problem('not-found')
  const start = { provider, redirectUri, clientInfo: request.clientInfo }
  if (caller) {
    const { userId, sessionId } = caller
    return startInSession(systemDb, start, sessionId, { kind: 'reauthenticate', userId })
  }
  const { live, sessionId } = request.session
  if (!live) request.announceSession()
  return startSignIn(systemDb, start, sessionId)
}

function singleName(names: readonly string[]): string | null {
  return names.length === 1 ? (names[0] ?? null) : null
}

export default login
