import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Problem } from '#src/http/problems.ts'
import { routingFault } from '#src/http/unroutable.ts'

/**
 * Requests without a route. An unknown path is 404, whose detail says that it is the path that is unknown. A known
 * path answers OPTIONS, and any other method with 405 and `Allow`. All of this depends on the routes alone and not on
 * objects, so no sign-in is needed. These requests, and those that cannot be routed at all, are answered before the
 * body is read and after the hooks of the scope, so that a rate limit applies to probing.
 */
export default fp(
  async function notFound(app) {
    app.addHook('onRequest', answerUnrouted)
    app.setNotFoundHandler(function answerNotFound() {
      throw new Problem('not-found')
    })
  },
  { name: 'not-found', fastify: '5.x', dependencies: ['errors', 'allowed-methods'] },
)

async function answerUnrouted(request: FastifyRequest, reply: FastifyReply) {
  if (!request.is404) return
  const fault = routingFault(request.raw, request.originalUrl)
  if (fault !== null) throw new Problem(fault.code, { detail: fault.detail })
  const [path = ''] = request.url.split('?', 1)
  const methods = request.server.allowedMethods(path)
  if (methods.length === 0)
    throw new Problem('not-found', { detail: faultOf(request.server, path) })
  const allowed = [...methods, 'OPTIONS'].join(', ')
  reply.header('allow', allowed)
  if (request.method !== 'OPTIONS') {
    throw new Problem('method-not-allowed', { detail: `Methods of this path: ${allowed}.` })
  }
  return reply.code(204).send()
}

/** Depends on the routes alone, so it tells nothing about objects. */
function faultOf({ allowedMethods }: FastifyInstance, path: string): string {
  const shorter = path.slice(0, -1)
  return path.endsWith('/') && allowedMethods(shorter).length > 0
    ? `No path ends with a slash: ${shorter}`
    : 'This address does not exist: there is no such path.'
}
