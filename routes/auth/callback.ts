import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { linkOf, readLink } from '#src/auth/members/invitation-link.ts'
import { ProviderUnavailable, SignInRefused } from '#src/auth/oidc/errors.ts'
import { newSessionId } from '#src/auth/sessions/session-id.ts'
import { type SignUp, trustsAddress } from '#src/auth/sign-in/account-linking.ts'
import { unsealName } from '#src/auth/sign-in/callback-form.ts'
import { completeSignIn } from '#src/auth/sign-in/complete.ts'
import { toIdentityProblem, toProviderProblem } from '#src/auth/sign-in/problems.ts'
import { type SignInState, takeSignInState } from '#src/auth/sign-in/state.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { preferredLanguage } from '#src/http/headers/accept-language.ts'
import { acceptsHtml } from '#src/http/headers/media-type.ts'
import { NoContent, problemOf } from '#src/http/schemas.ts'
import { isInvitationPage } from '#src/pages/account/invitations.ts'
import { welcomePath } from '#src/pages/account/welcome.ts'
import { returnPage } from '#src/pages/sign-in/sign-in.ts'
import { unixSeconds } from '#src/runtime/clock.ts'

type Options = {
  redirectUri: string
  /** Where a sign-in returns to that asked for no other path. */
  returnTo: string
  absoluteSeconds: number
  operators: ReadonlySet<string>
  signUp: SignUp
  encryptionKeys: EncryptionKeys
}

/** An invalid state has the plain-text response of the specification. */
const Refused = {
  description: 'Invalid state, or the sign-in was refused',
  content: {
    'text/plain': { schema: Type.Literal('bad state') },
    'application/problem+json': { schema: problemOf(['sign-in-refused']) },
  },
}

/**
 * The callback, in the order of contract 4. It has no query schema: an invalid state is answered
 * with the specification's text before anything else is checked.
 */
const callback: FastifyPluginAsync<Options> = async function callback(app, options) {
  app.get(
    '/auth/callback',
    {
      exposeHeadRoute: false,
      config: { access: 'public' },
      schema: {
        operationId: 'finishSignIn',
        tags: ['sign-in'],
        summary: 'The redirect URI: where the provider sends the browser back to',
        produces: ['text/html'],
        response: {
          200: Type.String({
            description: 'Signed in; a page that leads to the URL that the sign-in was for',
          }),
          302: NoContent('Signed in; to the page that the sign-in was for'),
          400: Refused,
        },
      },
    },
    finishSignIn(options),
  )
}

function finishSignIn(options: Options) {
  const { redirectUri, returnTo, absoluteSeconds, operators, signUp, encryptionKeys } = options
  return async function finishSignIn(
    this: FastifyInstance,
    request: FastifyRequest,
    reply: FastifyReply,
  ) {
    const parameters = new URL(request.url, redirectUri).searchParams
    const state = await takeState(this, request, parameters.getAll('state'))
    const provider = this.providers.get(state?.provider ?? '')
    if (state === null || provider === undefined) return refuseState(this, request, reply)
    const purpose = state.purpose.kind
    const completed = await provider.client
      .exchange(parameters, state, redirectUri)
      .catch(async (error) => {
        await recordFailure(this, request, state, error)
        throw toProviderProblem(error, purpose, state.returnTo)
      })
    const newCookieId = newSessionId()
    const { email, emailVerified, sessionId, tokens, mappedRole, ...identity } = completed
    const nowSeconds = unixSeconds(this.clock)
    const { responseMode } = provider.setup
    const formName = responseMode && unsealName(encryptionKeys, parameters, nowSeconds)
    const trusted = email !== null && trustsAddress(provider.setup.trustEmail, email)
    const result = await completeSignIn(this.systemDb, this.queue, {
      identity: {
        ...identity,
        name: identity.name ?? formName,
        locale: identity.locale ?? preferredLanguage(request.headers['accept-language']),
        provider: state.provider,
        email,
        emailTrusted: emailVerified && trusted,
      },
      providerSession: sessionId,
      mappedRole,
      state,
      newCookieId,
      absoluteSeconds,
      operators,
      signUp,
      invitationLink: readLink(linkOf(request.cookies)),
      clientInfo: request.clientInfo,
      nowSeconds,
      grant: tokens && { tokens, keys: encryptionKeys },
    }).catch((error) => {
      count(this, state, 'failed', 'internal')
      throw error
    })
    if (result.outcome === 'gone') return refuseState(this, request, reply)
    if (result.outcome === 'refused') {
      count(this, state, 'refused', result.reason)
      throw toIdentityProblem(result.reason, purpose, state.returnTo)
    }
    count(this, state, 'done', '')
    await request.adoptSession(newCookieId)
    if (purpose === 'sign-in') reply.rememberProvider(state.provider)
    const target = state.returnTo ?? returnTo
    if (result.isNew && asksForName(request, target)) return reply.redirect(welcomePath(target))
    // Browsers apply `form-action` of the provider's page to the redirects after its form, so a page
    // ends them before the browser goes to another origin.
    return target.startsWith('/') ? reply.redirect(target) : reply.sendPage(returnPage(target))
  }
}

/** A new person in a browser is asked for the name of their tenant, but not on the way to an invitation. */
function asksForName({ headers }: FastifyRequest, target: string): boolean {
  return acceptsHtml(headers.accept) && !isInvitationPage(target)
}

/** The pending sign-in of exactly one `state` parameter. */
async function takeState(
  { systemDb }: FastifyInstance,
  { session }: FastifyRequest,
  [state, ...more]: string[],
): Promise<SignInState | null> {
  if (state === undefined || more.length > 0) return null
  return takeSignInState(systemDb, session.sessionId, state)
}

async function refuseState(
  { refusals, metrics }: FastifyInstance,
  { clientInfo }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const refused = { outcome: 'refused', reason: 'bad-state' } as const
  metrics.identity.countSignIn({ provider: 'unknown', purpose: 'unknown', ...refused })
  await refusals.record({ action: 'sign-in', ...refused }, clientInfo)
  return reply.code(400).type('text/plain').send('bad state')
}

async function recordFailure(
  app: FastifyInstance,
  { clientInfo, log }: FastifyRequest,
  state: SignInState,
  error: unknown,
): Promise<void> {
  const outcome = outcomeOf(error)
  if (outcome === null) return count(app, state, 'failed', 'internal')
  const { reason } = outcome
  count(app, state, outcome.outcome, reason)
  const { provider, purpose } = state
  const { kind: action, userId } = purpose
  log.info({ provider, action, ...outcome }, 'sign-in failed')
  await app.refusals.record({ action, ...outcome, provider, userId }, clientInfo)
}

function outcomeOf(error: unknown) {
  if (error instanceof SignInRefused) {
    const { reason, providerError } = error
    return { outcome: 'refused', reason, providerError } as const
  }
  if (error instanceof ProviderUnavailable) {
    return { outcome: 'unavailable', reason: error.reason } as const
  }
  return null
}

function count(
  { metrics }: FastifyInstance,
  { provider, purpose }: SignInState,
  outcome: string,
  reason: string,
): void {
  metrics.identity.countSignIn({ provider, purpose: purpose.kind, outcome, reason })
}

export default callback
