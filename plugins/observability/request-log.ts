import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import type { Principal } from '#src/access/caller.ts'
import { networkOf } from '#src/audit/audit.ts'
import { clientAddressOf } from '#src/http/headers/client-address.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The path contains personal data: the log shows the template of the route instead. */
    personalPath?: true
  }
}

/**
 * Logs one line per request when it has been answered. The query is omitted, because on the sign-in
 * callback it holds the code and the state.
 */
export function createRequestLog() {
  const log = new Fastify.LogController({ disableRequestLogging: true })
  log.requestCompleted = (_error, request, reply) => writeLine(request, reply)
  return log
}

/** The same for errors before routing, for which no hooks run. */
export function logUnrouted(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id)
  reply.raw.once('finish', () => writeLine(request, reply))
}

function writeLine(request: FastifyRequest, reply: FastifyReply): void {
  const caller = request.enteredCaller
  const { url: route, config } = request.routeOptions
  request.log.info(
    {
      method: request.method,
      path: config.personalPath ? route : request.originalUrl.split('?', 1)[0],
      route: route ?? 'unknown',
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      network: networkOf(clientAddressOf(request)),
      ...(caller && callerFacts(caller)),
    },
    'request',
  )
}

/** Ids of rows, which open nothing. */
function callerFacts({ userId, tenantId, sessionId, tokenId, serviceId }: Principal) {
  if (serviceId !== null) return { serviceId, tenantId }
  return { userId, tenantId, ...(sessionId === null ? { tokenId } : { sessionId }) }
}
