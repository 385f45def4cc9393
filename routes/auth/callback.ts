import type { FastifyPluginAsync } from 'fastify'
import Type from 'typebox'
import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { ProviderUnavailable, SignInRefused } from '#src/auth/oidc/errors.ts'
import { trustsAddress } from '#src/auth/sign-in/account-linking.ts'
import { completeSignIn } from '#src/auth/sign-in/complete.ts'
import { toLinkProblem, toProviderProblem } from '#src/auth/sign-in/problems.ts'
import { type SignInState, takeSignInState } from '#src/auth/sign-in/state.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { randomToken } from '#src/crypto/hash.ts'
import { ProblemBody, problems } from '#src/http/schemas.ts'
import { unixSeconds } from '#src/runtime/clock.ts'

type Options = {
  redirectUri: string
  returnTo: string
  absoluteSeconds: number
  encryptionKeys: EncryptionKeys
}

/** A state that is not this browser's is answered in the specification's words. */
const Refused = {
  description: 'Bad state, or the sign-in was refused',
  content: {
    'text/plain': { schema: Type.Literal('bad state') },
    'application/problem+json': { schema: ProblemBody },
  },
}

/**
 * The callback, in the order of contract 4. There is no query schema: whatever is wrong with the
 * state is answered with the specification's text, before anything else is looked at.
 */
const callback: FastifyPluginAsync<Options> = async function callback(app, options) {
  const { redirectUri, returnTo, absoluteSeconds, encryptionKeys } = options
  const systemDb = app.systemDb
  const { signIns } = app.metrics.identity

  app.get(
    '/auth/callback',
    {
      exposeHeadRoute: false,
      config: { access: 'public' },
      schema: {
        tags: ['sign-in'],
        summary: 'Where the provider sends the browser back to',
        response: { 302: Type.Null(), 400: Refused, ...problems(409, 429, 503) },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const clientInfo = request.clientInfo
      const parameters = new URL(request.url, redirectUri).searchParams
      const [state, ...more] = parameters.getAll('state')
      const cookieId = request.session.sessionId
      const attempt =
        state === undefined || more.length > 0
          ? null
          : await takeSignInState(systemDb, cookieId, state)
      const provider = app.providers.get(attempt?.provider ?? '')
      if (attempt === null || provider === undefined) {
        signIns.inc({
          provider: 'unknown',
          purpose: 'unknown',
          outcome: 'refused',
          reason: 'bad-state',
        })
        await recordAudit(
          systemDb,
          { action: 'sign-in', outcome: 'refused', reason: 'bad-state' },
          clientInfo,
        )
        return reply.code(400).type('text/plain').send('bad state')
      }
      const count = (outcome: string, reason: string) =>
        signIns.inc({ provider: attempt.provider, purpose: attempt.purpose.kind, outcome, reason })
      const proven = await provider.client
        .exchange(parameters, attempt, redirectUri)
        .catch(async (error) => {
          count(...failureOf(error))
          await auditFailure(attempt, error, clientInfo)
          throw toProviderProblem(error, attempt.purpose.kind)
        })
      const newCookieId = randomToken()
      const { email, emailVerified, sessionId, tokens, ...identity } = proven
      const trusted = email !== null && trustsAddress(provider.setup.trustEmail, email)
      const result = await completeSignIn(systemDb, {
        identity: {
          ...identity,
          provider: attempt.provider,
          email,
          emailTrusted: emailVerified && trusted,
        },
        providerSession: sessionId,
        attempt,
        newCookieId,
        absoluteSeconds,
        clientInfo,
        nowSeconds: unixSeconds(app.clock),
        grant: tokens && { tokens, keys: encryptionKeys },
      }).catch((error) => {
        count('failed', 'internal')
        throw error
      })
      if (result.outcome === 'refused') {
        count('refused', result.reason)
        throw toLinkProblem(result.reason, attempt.purpose.kind)
      }
      count('done', '')
      await request.adoptSession(newCookieId)
      return reply.redirect(returnTo)
    },
  )

  async function auditFailure(attempt: SignInState, error: unknown, clientInfo: ClientInfo) {
    const { provider, purpose } = attempt
    const { kind: action, userId } = purpose
    if (error instanceof SignInRefused) {
      const { reason } = error
      await recordAudit(
        systemDb,
        { action, outcome: 'refused', reason, provider, userId },
        clientInfo,
      )
    } else if (error instanceof ProviderUnavailable) {
      const { reason } = error
      await recordAudit(
        systemDb,
        { action, outcome: 'unavailable', reason, provider, userId },
        clientInfo,
      )
    }
  }
}

function failureOf(error: unknown): [outcome: string, reason: string] {
  if (error instanceof SignInRefused) return ['refused', error.reason]
  if (error instanceof ProviderUnavailable) return ['unavailable', error.reason]
  return ['failed', 'internal']
}

export default callback
