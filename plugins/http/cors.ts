import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { withVary } from '#src/http/headers/vary.ts'

// Chromium keeps a preflight for at most two hours.
const preflightSeconds = 7_200
const allowCredentials = { 'access-control-allow-credentials': 'true' }
const requestHeaders = 'authorization, content-type, idempotency-key, if-match, if-none-match'
const responseHeaders =
  'allow, etag, idempotent-replayed, link, location, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id'

type Options = {
  /** Pages of these authenticate with an API token, and a browser shows them no response to a cookie. */
  tokenOrigins: readonly string[]
  /** Pages of these may also send the session cookie to the routes that plugins/access/app-origins.ts marks. */
  appOrigins: readonly string[]
}

/**
 * Cross-origin requests of the listed origins (Fetch standard). A preflight is an OPTIONS request, which
 * plugins/http/not-found.ts answers: 204, or 404 for an unknown path.
 */
export default fp<Options>(
  async function cors(app, { tokenOrigins, appOrigins }) {
    const allowed = new Set([...tokenOrigins, ...appOrigins])
    if (allowed.size === 0) return
    if (app.hasDecorator('addParserHeaders'))
      app.addParserHeaders(({ origin }) => ({
        vary: 'origin',
        ...(origin !== undefined &&
          allowed.has(origin) && {
            'access-control-allow-origin': origin,
            'access-control-expose-headers': responseHeaders,
            ...(appOrigins.includes(origin) && allowCredentials),
          }),
      }))
    app.addHook('onRequest', async function allowOrigin(request, reply) {
      reply.header('vary', withVary(reply.getHeader('vary'), 'origin'))
      const { origin } = request.headers
      if (origin === undefined || !allowed.has(origin)) return
      reply.header('access-control-allow-origin', origin)
      if (takesCookieFrom(origin, request)) reply.headers(allowCredentials)
      if (isPreflight(request)) allowRequest(request, reply)
      else reply.header('access-control-expose-headers', responseHeaders)
    })
  },
  { name: 'cors', fastify: '5.x', dependencies: ['allowed-methods'] },
)

/** A preflight asks for the route of the request that it announces. */
function takesCookieFrom(origin: string, request: FastifyRequest): boolean {
  if (!isPreflight(request)) return isMarked(request.routeOptions, origin)
  const method = String(request.headers['access-control-request-method'])
  return isMarked(request.server.routeAt(method, pathOf(request)), origin)
}

function isMarked(route: { config?: FastifyContextConfig } | null, origin: string): boolean {
  return route?.config?.appOrigins?.includes(origin) ?? false
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

function allowRequest(request: FastifyRequest, reply: FastifyReply): void {
  const methods = request.server.allowedMethods(pathOf(request))
  if (methods.length === 0) return
  reply.header('access-control-allow-methods', methods.join(', '))
  reply.header('access-control-allow-headers', requestHeaders)
  reply.header('access-control-max-age', preflightSeconds)
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? url
}
