import type { FastifyPluginAsync } from 'fastify'
import { randomToken } from '#src/crypto/digest.ts'
import type { EncryptionKeys } from '#src/crypto/sealed.ts'
import { Refusal } from '#src/errors.ts'
import { takeAttempt } from '#src/identity/attempts.ts'
import { deviceOf, recordAudit } from '#src/identity/audit.ts'
import { trustsAddress } from '#src/identity/claims.ts'
import { ProviderUnavailable, SignInRefused } from '#src/identity/refusal.ts'
import { completeSignIn } from '#src/identity/sign-in.ts'

type Options = {
  redirectUri: string
  returnTo: string
  absoluteSeconds: number
  encryptionKeys: EncryptionKeys
}

const refusedDetail =
  'The identity provider’s answer could not be accepted, so you were not signed in. Start again.'
const emailKnownDetail =
  'An account with this e-mail address exists already. Sign in the way you usually do, then link this one from your account.'

/**
 * The callback, in the order of contract 4. There is no query schema: whatever is wrong with the
 * state is answered with the specification's text, before anything else is looked at.
 */
const callback: FastifyPluginAsync<Options> = async function callback(app, options) {
  const { redirectUri, returnTo, absoluteSeconds, encryptionKeys } = options
  const plane = app.identityPlane

  app.get(
    '/auth/callback',
    {
      exposeHeadRoute: false,
      config: { access: 'public' },
      schema: { tags: ['sign-in'], summary: 'Where the provider sends the browser back to' },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const device = deviceOf(request.ip, request.headers['user-agent'])
      const parameters = new URL(request.url, redirectUri).searchParams
      const [state, ...more] = parameters.getAll('state')
      const cookieId = request.session.sessionId
      const attempt =
        state === undefined || more.length > 0 ? null : await takeAttempt(plane, cookieId, state)
      const provider = app.providers.get(attempt?.provider ?? '')
      if (attempt === null || provider === undefined) {
        await recordAudit(
          plane,
          { action: 'sign-in', outcome: 'refused', reason: 'bad-state' },
          device,
        )
        return reply.code(400).type('text/plain').send('bad state')
      }
      const name = attempt.provider
      const proven = await provider.client
        .exchange(parameters, attempt, redirectUri)
        .catch(async (error) => {
          await auditFailure(name, error, device)
          throw refusalFor(error)
        })
      const newCookieId = randomToken()
      const { email } = proven
      const trusted = email !== null && trustsAddress(provider.setup.trustEmail, email)
      const result = await completeSignIn(plane, {
        identity: {
          provider: name,
          issuer: proven.issuer,
          subject: proven.subject,
          email,
          emailTrusted: proven.emailVerified && trusted,
          name: proven.name,
        },
        providerSession: proven.sessionId,
        oldCookieId: cookieId,
        newCookieId,
        absoluteSeconds,
        device,
        grant: proven.tokens && { tokens: proven.tokens, keys: encryptionKeys },
      })
      if (result.outcome === 'refused') {
        throw new Refusal('sign-in-refused', { detail: emailKnownDetail })
      }
      await request.adoptSession(newCookieId)
      return reply.redirect(returnTo)
    },
  )

  async function auditFailure(
    provider: string,
    error: unknown,
    device: ReturnType<typeof deviceOf>,
  ) {
    const action = 'sign-in' as const
    if (error instanceof SignInRefused) {
      const { reason } = error
      await recordAudit(plane, { action, outcome: 'refused', reason, provider }, device)
    } else if (error instanceof ProviderUnavailable) {
      const { reason } = error
      await recordAudit(plane, { action, outcome: 'unavailable', reason, provider }, device)
    }
  }
}

function refusalFor(error: unknown): unknown {
  if (error instanceof SignInRefused)
    return new Refusal('sign-in-refused', { detail: refusedDetail })
  if (error instanceof ProviderUnavailable) {
    const { retryAfterSeconds } = error
    return new Refusal('unavailable', {
      detail: 'The identity provider did not answer. Try again in a moment.',
      retryAfterSeconds,
    })
  }
  return error
}

export default callback
