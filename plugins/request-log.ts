import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { callerOf } from '#src/auth/sessions/caller.ts'

/**
 * One line per request when it is answered, and its id in the answer. The query is left out: on
 * the callback it holds the code and the state.
 */
export default fp(
  async function requestLog(app) {
    app.addHook('onRequest', async function tellRequestId(request, reply) {
      reply.header('x-request-id', request.id)
    })
    app.addHook('onResponse', async function logRequest(request, reply) {
      writeLine(request, reply)
    })
  },
  { name: 'request-log', fastify: '5.x' },
)

/** The same for what is refused before it has a route: hooks do not run for it. */
export function logUnrouted(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id)
  reply.raw.once('finish', () => writeLine(request, reply))
}

function writeLine(request: FastifyRequest, reply: FastifyReply): void {
  const caller = callerOf(request)
  request.log.info(
    {
      method: request.method,
      path: request.url.split('?', 1)[0],
      route: request.routeOptions.url ?? 'unknown',
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      ...(caller && { userId: caller.userId, tenantId: caller.tenantId }),
    },
    'request',
  )
}
