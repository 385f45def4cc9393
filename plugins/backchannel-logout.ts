import formbody from '@fastify/formbody'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { recordAudit } from '#src/audit/audit.ts'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import type { LogoutRefusal, ProviderLogout } from '#src/auth/oidc/logout.ts'
import { Problem } from '#src/http/problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What a provider has proven by its logout token. Null until then. */
    logout: { provider: string; token: ProviderLogout } | null
    /** Writes down why the logout is refused; the answer tells no more than 400. */
    refuseLogout(reason: LogoutRefusal): Promise<Problem>
  }
}

const bodyLimitBytes = 16_384 // some eight times an honest token

/**
 * The scope of back-channel logout: forms only, and the signed `logout_token` in it is the whole
 * proof. Whatever is wrong with a request is 400, and no answer is ever stored.
 */
export default fp(
  async function backchannelLogout(app) {
    app.removeAllContentTypeParsers()
    await app.register(formbody, { bodyLimit: bodyLimitBytes })
    app.decorateRequest('logout', null)
    app.decorateRequest('refuseLogout', refuseLogout)
    app.addHook('onRequest', async function forbidStoring(_request, reply) {
      reply.header('cache-control', 'no-store')
    })
    app.addHook('preValidation', verifyLogoutToken)
    app.setErrorHandler(async function refuseUnreadable(error, request) {
      throw isUnreadable(error) ? await request.refuseLogout('logout-request-malformed') : error
    })
  },
  {
    name: 'backchannel-logout',
    fastify: '5.x',
    dependencies: ['database', 'client-info', 'oidc-client'],
  },
)

async function verifyLogoutToken(request: FastifyRequest): Promise<void> {
  const name = providerName(request)
  const provider = request.server.providers.get(name)
  if (provider === undefined) throw new Problem('not-found')
  const token = tokenIn(request.body)
  if (token === null) throw await request.refuseLogout('logout-request-malformed')
  const verdict = await provider.client.verifyLogoutToken(token).catch((error) => {
    if (error instanceof ProviderUnavailable) return 'logout-provider-unavailable' as const
    throw error
  })
  if (typeof verdict === 'string') throw await request.refuseLogout(verdict)
  request.logout = { provider: name, token: verdict }
}

async function refuseLogout(this: FastifyRequest, reason: LogoutRefusal): Promise<Problem> {
  await recordAudit(
    this.server.systemDb,
    {
      action: 'sign-out',
      outcome: reason === 'logout-provider-unavailable' ? 'unavailable' : 'refused',
      reason,
      provider: providerName(this),
    },
    this.clientInfo,
  )
  return new Problem('logout-refused')
}

/** The path's last part; the audit log takes it only once it is known to be configured. */
function providerName({ params, server }: FastifyRequest): string {
  const named = typeof params === 'object' && params !== null && 'provider' in params
  const name = named ? String(params.provider) : ''
  return server.providers.has(name) ? name : ''
}

/** Exactly one; other parameters are ignored (Back-Channel Logout 1.0, 2.5). */
function tokenIn(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('logout_token' in body)) return null
  const { logout_token: token } = body
  return typeof token === 'string' && token !== '' ? token : null
}

/** Another media type, a body too large or not as long as announced: Fastify's own 4xx. */
function isUnreadable(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || !('statusCode' in error)) return false
  return String(error.code).startsWith('FST_') && [400, 413, 415].includes(Number(error.statusCode))
}
