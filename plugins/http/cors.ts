import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { withVary } from '#src/http/headers/vary.ts'

// Chromium keeps a preflight for at most two hours.
const preflightSeconds = 7_200
const requestHeaders = 'authorization, content-type, idempotency-key, if-match, if-none-match'
const responseHeaders =
  'allow, etag, idempotent-replayed, link, location, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id'

/**
 * Cross-origin requests of the listed origins (Fetch standard). Credentials are never allowed: a
 * script there authenticates with an API token, and a browser shows it no response to a cookie. A
 * preflight is an OPTIONS request, which plugins/http/not-found.ts answers: 204, or 404 for an unknown path.
 */
export default fp<{ origins: readonly string[] }>(
  async function cors(app, { origins }) {
    if (origins.length === 0) return
    const allowed = new Set(origins)
    if (app.hasDecorator('addParserHeaders'))
      app.addParserHeaders(({ origin }) => ({
        vary: 'origin',
        ...(origin !== undefined &&
          allowed.has(origin) && {
            'access-control-allow-origin': origin,
            'access-control-expose-headers': responseHeaders,
          }),
      }))
    app.addHook('onRequest', async function allowOrigin(request, reply) {
      reply.header('vary', withVary(reply.getHeader('vary'), 'origin'))
      const { origin } = request.headers
      if (origin === undefined || !allowed.has(origin)) return
      reply.header('access-control-allow-origin', origin)
      if (isPreflight(request)) allowRequest(request, reply)
      else reply.header('access-control-expose-headers', responseHeaders)
    })
  },
  { name: 'cors', fastify: '5.x', dependencies: ['allowed-methods'] },
)

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

function allowRequest(request: FastifyRequest, reply: FastifyReply): void {
  const [path = ''] = request.url.split('?', 1)
  const methods = request.server.allowedMethods(path)
  if (methods.length === 0) return
  reply.header('access-control-allow-methods', methods.join(', '))
  reply.header('access-control-allow-headers', requestHeaders)
  reply.header('access-control-max-age', preflightSeconds)
}
