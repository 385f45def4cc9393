import formbody from '@fastify/formbody'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import type { LogoutRefusal, ProviderLogout } from '#src/auth/oidc/logout.ts'
import { Problem } from '#src/http/problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The verified logout token. Null until verification. */
    logout: { provider: string; token: ProviderLogout } | null
    /** Counts and audits why the logout is refused. The response is only a 400 without the reason. */
    refuseLogout(reason: LogoutRefusal): Promise<Problem>
  }
}

const bodyLimitBytes = 16_384 // about eight times a typical token

/**
 * The scope of back-channel logout (OpenID Connect Back-Channel Logout 1.0): accepts only forms, and
 * the signed `logout_token` is the only credential. Every fault is a 400.
 */
export default fp(
  async function backchannelLogout(app) {
    app.removeAllContentTypeParsers()
    await app.register(formbody, { bodyLimit: bodyLimitBytes })
    app.decorateRequest('logout', null)
    app.decorateRequest('refuseLogout', refuseLogout)
    app.addHook('preValidation', verifyLogoutToken)
    app.setErrorHandler(async function refuseUnreadable(error, request) {
      throw isUnreadable(error) ? await request.refuseLogout('logout-request-malformed') : error
    })
  },
  {
    name: 'backchannel-logout',
    fastify: '5.x',
    dependencies: ['refusals', 'metrics', 'client-info', 'oidc-client'],
  },
)

async function verifyLogoutToken(request: FastifyRequest): Promise<void> {
  const name = providerName(request)
  const provider = request.server.providers.get(name)
  if (provider === undefined) throw new Problem('not-found')
  const token = readToken(request.body)
  if (token === null) throw await request.refuseLogout('logout-request-malformed')
  const verdict = await provider.client.verifyLogoutToken(token).catch((error) => {
    if (error instanceof ProviderUnavailable) return 'logout-provider-unavailable' as const
    throw error
  })
  if (typeof verdict === 'string') throw await request.refuseLogout(verdict)
  request.logout = { provider: name, token: verdict }
}

async function refuseLogout(this: FastifyRequest, reason: LogoutRefusal): Promise<Problem> {
  const { refusals, metrics } = this.server
  const provider = providerName(this)
  const outcome = reason === 'logout-provider-unavailable' ? 'unavailable' : 'refused'
  metrics.identity.logoutRefusals.inc({ provider, reason })
  await refusals.record({ action: 'sign-out', outcome, reason, provider }, this.clientInfo)
  return new Problem('logout-refused')
}

/** The provider in the path; empty for one that is not configured, which is not audited. */
function providerName({ params, server }: FastifyRequest): string {
  const named = typeof params === 'object' && params !== null && 'provider' in params
  const name = named ? String(params.provider) : ''
  return server.providers.has(name) ? name : ''
}

/** The only `logout_token`; other parameters are ignored (Back-Channel Logout 1.0, 2.5). */
function readToken(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('logout_token' in body)) return null
  const { logout_token: token } = body
  return typeof token === 'string' && token !== '' ? token : null
}

/** True for Fastify's own 4xx: wrong media type, body too large, wrong content length. */
function isUnreadable(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || !('statusCode' in error)) return false
  return String(error.code).startsWith('FST_') && [400, 413, 415].includes(Number(error.statusCode))
}
