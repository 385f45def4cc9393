import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance, FastifyServerOptions } from 'fastify'
import Fastify from 'fastify'
import { answerError } from '#plugins/http/errors.ts'
import { logUnrouted } from '#plugins/observability/request-log.ts'
import type { Config } from '#src/config/config.ts'
import { proxyList } from '#src/config/proxies.ts'
import { orderedId } from '#src/crypto/hash.ts'
import { normalizeAddress } from '#src/http/headers/client-address.ts'
import { maxParamLength, routingFault, unroutablePath } from '#src/http/unroutable.ts'

// Limits for slow and silent clients. Fastify's defaults are no limit.
const connectionTimeoutMs = 30_000
const requestTimeoutMs = 15_000
// Node applies the longer of the two to the whole request; its default for headers is 60 s.
const headersTimeoutMs = 10_000
const timeoutCheckMs = 2_000 // how often Node checks these limits; its default is 30 s
const keepAliveTimeoutMs = 65_000 // longer than the 60 s of common load balancers
const bodyLimitBytes = 262_144

/** Fastify options of the public and the admin listener. */
export function serverOptions(config: Config, logger: FastifyBaseLogger) {
  return {
    loggerInstance: logger,
    // Errors before routing get the same response as all others.
    frameworkErrors(error, request, reply) {
      logUnrouted(request, reply)
      return answerError(error, request, reply.header('cache-control', 'no-store'))
    },
    clientErrorHandler(this: FastifyInstance, error, socket) {
      answerClientError(this, error, socket)
    },
    // The router refuses some paths before any hook, and Node requests without Host. They take the way
    // of unknown paths.
    rewriteUrl(request) {
      const { url = '/' } = request
      return routingFault(request, url) === null ? url : unroutablePath
    },
    // plugins/observability/request-log.ts logs requests.
    logController: new Fastify.LogController({ disableRequestLogging: true }),
    genReqId: () => orderedId(), // its time is what `gatehouse trace` searches by
    trustProxy: trustedProxies(config.trustProxy),
    bodyLimit: bodyLimitBytes,
    connectionTimeout: connectionTimeoutMs,
    requestTimeout: requestTimeoutMs,
    http: {
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: timeoutCheckMs,
      requireHostHeader: false, // routingFault requires it
    },
    keepAliveTimeout: keepAliveTimeoutMs,
    routerOptions: { maxParamLength },
    return503OnClosing: false, // requests that still arrive are answered with `Connection: close`
  } satisfies FastifyServerOptions & { http: object }
}

/** Fastify's own check compares the text that a proxy forwarded, which may have a port. */
function trustedProxies(ranges: readonly string[]): false | ((hop: string) => boolean) {
  if (ranges.length === 0) return false
  const isProxy = proxyList(ranges)
  return (hop) => {
    const address = normalizeAddress(hop)
    return address !== null && isProxy(address)
  }
}

type Answer = { status: number; title: string }

const malformed: Answer = { status: 400, title: 'Bad Request' }
const answers: Readonly<Record<string, Answer>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, title: 'Request Timeout' },
  HPE_HEADER_OVERFLOW: { status: 431, title: 'Request Header Fields Too Large' },
}

/**
 * Answers a client whose request could not be parsed: headers too long, not HTTP, or too slow. The
 * response has a request id, and the log has a line with it.
 */
function answerClientError(
  app: FastifyInstance,
  error: Error & { code?: string; rawPacket?: unknown },
  socket: Socket,
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const answer = answers[error.code ?? ''] ?? malformed
  const reqId = app.answerUnparsed(socket, { ...answer, packet: error.rawPacket })
  app.log.info({ reqId, route: 'unknown', status: answer.status, errorCode: error.code }, 'request')
}
