import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { hasTokenForm } from '#src/crypto/api-token.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { readBearerToken } from '#src/http/bearer-token.ts'
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
      const { authorization, cookie } = request.headers
      const token = readBearerToken(authorization)
      if (token === null) return
      // Duplicates count too, although the session plugin ignores them.
      if (countSessionCookies(cookie) > 0) {
        const detail = 'Send a session cookie or a token, not both.'
        request.rejectCredential(new Problem('malformed', { detail }))
      } else if (hasTokenForm(token)) request.credential = { kind: 'token', hash: sha256(token) }
      else request.rejectCredential(new Problem('invalid-token'))
    })
  },
  { name: 'api-token', fastify: '5.x', dependencies: ['session'] },
)
