import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import type { Principal } from '#src/access/caller.ts'
import { clientAddressOf, networkOf } from '#src/http/headers/client-address.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The path contains personal data: the log shows the template of the route instead. */
    personalPath?: true
  }
}

/**
 * Logs one line per request when it has been answered: at most 200 bytes at `info`, because most of what
 * a busy process writes is this line. Path and caller are in a second line at `debug`. The query is
 * omitted, because on the sign-in callback it holds the code and the state.
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

const detailedLevels = ['debug', 'trace']

function writeLine(request: FastifyRequest, reply: FastifyReply): void {
  const { log, method, routeOptions } = request
  const { url = 'unknown', config } = routeOptions
  const route = `${method} ${url}`
  log.info({ route, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'request')
  if (!detailedLevels.includes(log.level)) return
  const caller = request.enteredCaller
  log.debug(
    {
      path: config.personalPath ? url : request.originalUrl.split('?', 1)[0],
      network: networkOf(clientAddressOf(request)),
      ...(caller && callerFacts(caller)),
    },
    'request details',
  )
}

/** Ids of rows, which open nothing. */
function callerFacts({ userId, tenantId, sessionId, tokenId, serviceId, isApp }: Principal) {
  if (isApp) return { appTokenId: serviceId, tenantId }
  if (serviceId !== null) return { serviceId, tenantId }
  return { userId, tenantId, ...(sessionId === null ? { tokenId } : { sessionId }) }
}
