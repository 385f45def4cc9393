import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { tokenKindOf } from '#src/crypto/api-token.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { readBearerToken } from '#src/http/bearer-token.ts'
import { Problem } from '#src/http/problems.ts'
import { countSessionCookies } from '#src/http/session-cookie.ts'

/**
 * API tokens and service tokens, accepted wherever a session is. A request with a bearer token is judged by the token
 * alone: beside a session cookie it is malformed, because it would be two people at once. Other
 * authentication schemes are ignored.
 */
export default fp(
  async function apiToken(app) {
    app.addHook('onRequest', async function readTokenCredential(request: FastifyRequest) {
      const { authorization, cookie } = request.headers
      const token = readBearerToken(authorization)
      if (token === null) return
      // Duplicates count too, although the session plugin ignores them.
      if (countSessionCookies(cookie) > 0) {
        const detail = 'Send a session cookie or a token, not both.'
        request.rejectCredential(new Problem('malformed', { detail }))
        return
      }
      const kind = tokenKindOf(token)
      if (kind === null) request.rejectCredential(new Problem('invalid-token'))
      else request.credential = { kind, hash: sha256(token) }
    })
  },
  { name: 'api-token', fastify: '5.x', dependencies: ['session'] },
)
