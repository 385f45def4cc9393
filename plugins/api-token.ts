import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { hasTokenForm } from '#src/crypto/api-token.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { Problem } from '#src/http/problems.ts'
import { countSessionCookies } from '#src/http/session-cookie.ts'

/**
 * API tokens, accepted wherever a session is. A request with a bearer token is judged by the token
 * alone: beside a session cookie it is malformed, because it would be two people at once. Other
 * authentication schemes are ignored.
 */
export default fp(
  async function apiToken(app) {
    app.addHook('onRequest', async function readTokenCredential(request: FastifyRequest) {
      const { authorization } = request.headers
      if (authorization === undefined || !/^bearer(\s|$)/i.test(authorization)) return
      // Duplicates count too, although the session plugin ignores them.
      if (countSessionCookies(request.headers.cookie) > 0) {
        throw new Problem('malformed', { detail: 'Send a session cookie or a token, not both.' })
      }
      const token = /^bearer +(\S+)$/i.exec(authorization)?.[1]
      if (token === undefined || !hasTokenForm(token)) throw new Problem('invalid-token')
      request.credential = { kind: 'token', hash: sha256(token) }
    })
  },
  { name: 'api-token', fastify: '5.x', dependencies: ['session'] },
)
