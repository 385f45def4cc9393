import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type Tracing, untraced } from '#src/observability/tracing.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Spans around what a request has done; nothing where tracing is off. */
    tracing: Tracing
  }
}

const traceHeaders = ['traceparent', 'tracestate', 'baggage']

/**
 * A span for each request and one for its handler, where tracing is on. Registered before whatever
 * has routes. Without it the library is not even loaded.
 */
export default fp<{ tracing?: Tracing | undefined }>(
  async function tracing(app, { tracing: given = untraced }) {
    app.decorate('tracing', given)
    if (!given.on) return
    const { FastifyOtelInstrumentation } = await import('@fastify/otel')
    const instrumentation = new FastifyOtelInstrumentation({
      recordExceptions: false,
      instrumentHooks: false,
      requestHook(span, request) {
        const route = request.routeOptions.url ?? 'unknown'
        span.updateName(`${request.method} ${route}`)
        // The library took the whole URL, and on the callback that has the code in it.
        span.setAttributes({ 'url.path': route, 'gatehouse.request_id': request.id })
      },
    })
    app.addHook('onRequest', ignoreForeignTrace)
    await app.register(instrumentation.plugin())
  },
  { name: 'tracing', fastify: '5.x' },
)

/**
 * A trace is gone on with only where a trusted proxy handed the request on: anybody else could
 * have every request of theirs recorded, or mix them into the traces of others.
 */
function ignoreForeignTrace(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  // The peer's address is the first; a second one is there when the first is trusted.
  const isForwarded = (request.ips?.length ?? 0) > 1
  if (!isForwarded) for (const name of traceHeaders) delete request.headers[name]
  done()
}
