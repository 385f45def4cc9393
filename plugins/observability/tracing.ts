import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { traceparentOf } from '#src/observability/traceparent.ts'
import { type Tracing, untraced } from '#src/observability/tracing.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Creates spans; does nothing if tracing is off. */
    tracing: Tracing
  }
  interface FastifyRequest {
    /** The W3C trace context of the request; null if it is not traced. */
    traceparent: string | null
  }
}

const traceHeaders = ['traceparent', 'tracestate', 'baggage']

/**
 * If tracing is on, creates a span for each request and one for its handler. It must be registered
 * before any route. If tracing is off, the library is not loaded.
 */
export default fp<{ tracing?: Tracing | undefined }>(
  async function tracing(app, { tracing: given = untraced }) {
    app.decorate('tracing', given)
    app.decorateRequest('traceparent', null)
    if (!given.on) return
    const { FastifyOtelInstrumentation } = await import('@fastify/otel')
    const instrumentation = new FastifyOtelInstrumentation({
      recordExceptions: false,
      instrumentHooks: false,
      requestHook(span, request) {
        request.traceparent = traceparentOf(span.spanContext())
        const route = request.routeOptions.url ?? 'unknown'
        span.updateName(`${request.method} ${route}`)
        // The library sets the whole URL, which on the sign-in callback contains the code.
        span.setAttributes({ 'url.path': route, 'gatehouse.request_id': request.id })
      },
    })
    app.addHook('onRequest', ignoreUntrustedTrace)
    await app.register(instrumentation.plugin())
  },
  { name: 'tracing', fastify: '5.x' },
)

/**
 * Continues a trace only if a trusted proxy forwarded the request. Other clients could force sampling
 * of all their requests or add spans to traces of others.
 */
function ignoreUntrustedTrace(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: () => void,
): void {
  // request.ips begins with the peer; further addresses follow only if the peer is trusted.
  const isForwarded = (request.ips?.length ?? 0) > 1
  if (!isForwarded) for (const name of traceHeaders) delete request.headers[name]
  done()
}
