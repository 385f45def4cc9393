import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { findToken } from '#src/auth/api-tokens/api-tokens.ts'
import type { Caller } from '#src/auth/sessions/caller.ts'
import { Problem } from '#src/http/problems.ts'
import { countSessionCookies } from '#src/http/session-cookie.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller authenticated by `Authorization: Bearer`; null without a token. */
    tokenCaller: Caller | null
  }
}

/**
 * Authenticates API tokens. A request with a bearer token is authenticated by the token alone: an
 * invalid token is a 401, and a token together with a session cookie is malformed, because the two
 * may belong to different users. Other authorization schemes are ignored.
 */
export default fp(
  async function apiToken(app) {
    app.decorateRequest('tokenCaller', null)
    app.addHook('onRequest', async function authenticateToken(request: FastifyRequest) {
      const { authorization } = request.headers
      if (authorization === undefined || !/^bearer(\s|$)/i.test(authorization)) return
      // Duplicates count too, although the session plugin ignores them.
      if (countSessionCookies(request.headers.cookie) > 0) {
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
