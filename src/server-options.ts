import buildSerializers from '@fastify/fast-json-stringify-compiler'
import Fastify, { type FastifyBaseLogger, type FastifyServerOptions } from 'fastify'
import { answerError } from '#plugins/errors.ts'
import { logUnrouted } from '#plugins/request-log.ts'
import { answerClientError } from './client-errors.ts'
import type { Config } from './config.ts'
import { randomId } from './crypto/digest.ts'

// Nothing waits for a slow or silent client without a limit; Fastify's own default is none.
const connectionTimeoutMs = 30_000
const requestTimeoutMs = 15_000
// Node takes the longer of the two for the whole request, and its own for the headers is 60 s.
const headersTimeoutMs = 10_000
const slowCheckMs = 2_000 // how often these limits are looked after; Node's own is 30 s
const keepAliveTimeoutMs = 65_000 // longer than the 60 s that load balancers keep a connection
const bodyLimitBytes = 262_144

type SerializerFactory = ReturnType<typeof buildSerializers>
type Serializer = ReturnType<ReturnType<SerializerFactory>>

const buildSerializer = buildSerializers()
const serializers = new Map<string, Serializer>()

/** How every listener of the program is set up. */
export function serverOptions(config: Config, logger: FastifyBaseLogger) {
  return {
    loggerInstance: logger,
    // What is refused before a route is found leaves as every other error does.
    frameworkErrors(error, request, reply) {
      logUnrouted(request, reply)
      return answerError(error, request, reply)
    },
    clientErrorHandler(error, socket) {
      answerClientError(logger, error, socket)
    },
    // One line per request is written by plugins/request-log.ts.
    logController: new Fastify.LogController({ disableRequestLogging: true }),
    genReqId: () => randomId(),
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    bodyLimit: bodyLimitBytes,
    connectionTimeout: connectionTimeoutMs,
    requestTimeout: requestTimeoutMs,
    http: { headersTimeout: headersTimeoutMs, connectionsCheckingInterval: slowCheckMs },
    keepAliveTimeout: keepAliveTimeoutMs,
    // A provider's subject or event id: 255 characters of up to four bytes, each as %XX.
    routerOptions: { maxParamLength: 3_060 },
    return503OnClosing: false, // requests that still arrive are answered, with `Connection: close`,
    schemaController: { compilersFactory: { buildSerializer: compileOnce } },
    ajv: {
      // Unknown fields are refused, never dropped; a number is a number, never a string of one.
      customOptions: { removeAdditional: false, coerceTypes: false, allErrors: false },
    },
  } satisfies FastifyServerOptions & { http: object }
}

/**
 * Each schema of an answer is compiled once in a process: of some 700 answers 50 differ, most are
 * problems, and compiling every one of them was half of what it takes to build the server.
 */
function compileOnce(...[shared, options]: Parameters<SerializerFactory>) {
  const compile = buildSerializer(shared, options)
  return (answer: Parameters<typeof compile>[0]): Serializer => {
    const key = JSON.stringify([shared, options, answer.schema])
    const serializer = serializers.get(key) ?? compile(answer)
    serializers.set(key, serializer)
    return serializer
  }
}
