import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { findToken } from '#src/auth/api-tokens/api-tokens.ts'
import type { Caller } from '#src/auth/sessions/caller.ts'
import { Problem } from '#src/http/problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who came with `Authorization: Bearer`; null for everyone else. */
    tokenCaller: Caller | null
  }
}

const sessionCookie = 'sid'

/**
 * API tokens, wherever a session is accepted. A request that names a bearer token is judged by it
 * alone: an invalid one is 401, and one beside a session cookie is malformed, because it would be
 * two people at once. Other schemes are not ours and are left alone.
 */
export default fp(
  async function apiToken(app) {
    app.decorateRequest('tokenCaller', null)
    app.addHook('onRequest', async function authenticateToken(request: FastifyRequest) {
      const { authorization } = request.headers
      if (authorization === undefined || !/^bearer(\s|$)/i.test(authorization)) return
      if (hasSessionCookie(request)) {
        throw new Problem('malformed', { detail: 'Send a session cookie or a token, not both.' })
      }
      const token = /^bearer +(\S+)$/i.exec(authorization)?.[1]
      const caller = token === undefined ? null : await findToken(app.systemDb, token)
      if (caller === null) throw new Problem('invalid-token')
      request.tokenCaller = caller
    })
  },
  { name: 'api-token', fastify: '5.x', dependencies: ['database', 'session'] },
)

/** Also a doubled one, which the session plugin ignores. */
function hasSessionCookie({ headers }: FastifyRequest): boolean {
  const pairs = headers.cookie?.split(';') ?? []
  return pairs.some((pair) => pair.split('=', 1)[0]?.trim() === sessionCookie)
}
