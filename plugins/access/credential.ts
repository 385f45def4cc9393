import type { FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { Credential } from '#src/auth/sessions/enter.ts'
import { tokenKindOf } from '#src/crypto/api-token.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { readBearerToken } from '#src/http/headers/bearer-token.ts'
import { isCrossOrigin, isSafeMethod } from '#src/http/headers/cross-origin.ts'
import { countSessionCookies } from '#src/http/headers/session-cookie.ts'
import { Problem } from '#src/http/problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the request came with; nothing is known yet about whether it is live. */
    credential: Credential | null
    /** Why what the request came with cannot be used; null if it can, or if there is nothing. */
    credentialFault: Problem | null
  }
}

/**
 * The credential of a request: the session of its cookie, or an API or service token, which is
 * accepted where a rule of the policy decides. A credential with a fault is not used, but the request
 * is refused only after the rate limit has counted it for its address: by plugins/access/authz.ts, or here
 * for routes that anyone may call.
 */
export default fp<{ baseUrl: string }>(
  async function credential(app, { baseUrl }) {
    app.decorateRequest('credential', null)
    app.decorateRequest('credentialFault', null)
    app.addHook('onRoute', refuseFaultWithoutRule)
    app.addHook('onRequest', function readCredential(request, _reply, done) {
      request.credential = request.readSessionCookie()
      const sent = { isSafe: isSafeMethod(request.method), headers: request.headers }
      const { access, appOrigins } = request.routeOptions.config
      if (isCrossOrigin(sent, baseUrl, appOrigins)) {
        rejectCredential(request, new Problem('cross-origin'))
      }
      if (typeof access === 'object') readToken(request)
      done()
    })
  },
  { name: 'credential', fastify: '5.x', dependencies: ['session'] },
)

function refuseFaultWithoutRule(route: RouteOptions): void {
  if (typeof route.config?.access === 'object') return
  route.preParsing = [...[route.preParsing ?? []].flat(), refuseFault]
}

const refuseFault: Extract<RouteOptions['preParsing'], (...args: never[]) => void> =
  function refuseFault({ credentialFault }, _reply, payload, done) {
    done(credentialFault, payload)
  }

/**
 * A request with a bearer token is judged by the token alone: beside a session cookie it is malformed,
 * because it would be two people at once. Other authentication schemes are ignored.
 */
function readToken(request: FastifyRequest): void {
  const { authorization, cookie } = request.headers
  const token = readBearerToken(authorization)
  if (token === null) return
  const kind = tokenKindOf(token)
  // The headers of a forwarded request may hold a token of the app.
  if (kind === null && request.routeOptions.config.forwardsHeaders) return
  // Duplicates count too, although the session plugin ignores them.
  if (countSessionCookies(cookie) > 0) {
    const detail = 'Send a session cookie or a token, not both.'
    rejectCredential(request, new Problem('malformed', { detail }))
    return
  }
  if (kind === null) rejectCredential(request, new Problem('invalid-token'))
  else request.credential = { kind, hash: sha256(token) }
}

function rejectCredential(request: FastifyRequest, fault: Problem): void {
  request.credential = null
  request.credentialFault = fault
}
