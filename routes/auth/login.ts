import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import { isLive } from '#src/auth/sessions/enter.ts'
import { isAuthenticationTimeKnown } from '#src/auth/sessions/list.ts'
import { toProviderProblem } from '#src/auth/sign-in/problems.ts'
import { authenticationParameters, prepareSignIn } from '#src/auth/sign-in/start.ts'
import { type Purpose, storeSignInState } from '#src/auth/sign-in/state.ts'
import { Problem } from '#src/http/problems.ts'
import { NoContent, problems } from '#src/http/schemas.ts'
import { signInPage } from '#src/pages/sign-in/sign-in.ts'

type Options = { redirectUri: string; absoluteSeconds: number }

const LoginQuery = Type.Object(
  {
    provider: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'Name of the sign-in provider, such as `google`; without it people choose one',
      }),
    ),
    reauthenticate: Type.Optional(
      Type.Literal('true', {
        description:
          'Authenticate again in the current session, with an identity linked to your account',
      }),
    ),
    return_to: Type.Optional(
      Type.String({
        description:
          'Where to return to: a path of `SIGN_IN_RETURN_TO` or of one of our pages, or a URL of an origin in `APP_ORIGINS`, without a fragment. Anything else returns to the first path of `SIGN_IN_RETURN_TO`.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** Starts a sign-in: stores state, nonce and code verifier in the browser's session, then 302. */
const login: FastifyPluginAsyncTypebox<Options> = async function login(
  app,
  { redirectUri, absoluteSeconds },
) {
  app.get(
    '/auth/login',
    {
      exposeHeadRoute: false,
      config: { access: 'public' },
      schema: {
        operationId: 'startSignIn',
        tags: ['sign-in'],
        summary: 'Start a sign-in; redirects to the provider',
        produces: ['text/html'],
        querystring: LoginQuery,
        response: {
          200: Type.String({ description: 'A page to choose a provider, if there are several' }),
          302: NoContent('To the provider'),
          ...problems(400, 401, 'prefetch-refused', 404),
        },
      },
    },
    async (request, reply) => {
      if (isPrefetch(request)) throw new Problem('prefetch-refused')
      const { provider, reauthenticate, return_to } = request.query
      const returnTo = app.allowedReturn(return_to)
      const { purpose, isTimeKnown } =
        reauthenticate === undefined ? signIn : await reauthentication(request)
      const name = provider ?? singleName([...app.providers.keys()])
      if (name === null) {
        const start = { reauthenticate: reauthenticate !== undefined, returnTo }
        return reply.sendPage(signInPage(app.signInChoices(request.cookies), start))
      }
      const extras = authenticationParameters(purpose.kind, { absoluteSeconds, isTimeKnown })
      const start = { name, redirectUri, returnTo, purpose, extras }
      const url = await redirectUrl(app, request, start).catch((error) => {
        if (error instanceof ProviderUnavailable) {
          const unavailable = { outcome: 'unavailable', reason: error.reason }
          app.metrics.identity.countSignIn({
            provider: name,
            purpose: purpose.kind,
            ...unavailable,
          })
        }
        throw toProviderProblem(error, purpose.kind, returnTo)
      })
      if (returnTo !== null) reply.keepWanted(returnTo)
      return reply.redirect(url.href)
    },
  )
}

type LoginPurpose = Purpose & { kind: 'sign-in' | 'reauthenticate' }
/** `isTimeKnown`: the provider of the session said when the user authenticated. */
type Beginning = { purpose: LoginPurpose; isTimeKnown: boolean }

const signIn: Beginning = { purpose: { kind: 'sign-in', userId: null }, isTimeKnown: true }

/** @throws Problem `unauthenticated` without a signed-in session */
async function reauthentication({ visitorEntry, server }: FastifyRequest): Promise<Beginning> {
  if (visitorEntry === null) throw new Problem('unauthenticated')
  return server.db.read(visitorEntry, async (tx, caller) => {
    if (caller === null) throw new Problem('unauthenticated')
    const isTimeKnown = await isAuthenticationTimeKnown(tx, caller)
    return { purpose: { kind: 'reauthenticate', userId: caller.userId }, isTimeKnown }
  })
}

function isPrefetch({ headers }: FastifyRequest): boolean {
  return `${headers['sec-purpose'] ?? ''}${headers.purpose ?? ''}`.includes('prefetch')
}

async function redirectUrl(
  { providers, systemDb, refusals }: FastifyInstance,
  request: FastifyRequest,
  {
    name,
    purpose,
    ...paths
  }: {
    name: string
    redirectUri: string
    returnTo: string | null
    purpose: Purpose
    extras: Readonly<Record<string, string>>
  },
): Promise<URL> {
  const provider = providers.get(name)?.client
  if (provider === undefined) throw new Problem('not-found')
  const { clientInfo } = request
  const start = { provider, ...paths, clientInfo }
  const { url, state } = await prepareSignIn(refusals, start, purpose)
  if (purpose.kind === 'sign-in') await openBrowserSession(request)
  const isStored = await storeSignInState(systemDb, request.session.sessionId, state, clientInfo)
  if (!isStored) throw new Problem('unauthenticated')
  return url
}

/**
 * Makes sure that the browser has a session of its own. An id that is not live any more is never used
 * again: somebody else may have kept it.
 */
async function openBrowserSession(request: FastifyRequest): Promise<void> {
  const { credential, server } = request
  if (credential !== null) {
    if (await server.db.read(isLive(request.identify(credential)))) return
    await request.session.regenerate()
  }
  request.announceSession()
}

function singleName(names: readonly string[]): string | null {
  return names.length === 1 ? (names[0] ?? null) : null
}

export default login
