import fp from 'fastify-plugin'
import { toQuotaProblem } from '#src/db/quota.ts'
import { Problem } from '#src/http/problems.ts'
import type { Metrics } from '#src/observability/metrics.ts'
import { requestLabels } from '#src/observability/metrics.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The metrics of this process; exposed on the admin listener only. */
    metrics: Metrics
  }
}

/**
 * Provides the metrics of this process, and counts every request when it has been answered.
 * `providers`: the names of the configured identity providers.
 */
export default fp<{ metrics: Metrics; providers: readonly string[] }>(
  async function metrics(app, options) {
    const { requests, responses, refusals } = options.metrics.http
    options.metrics.identity.startSignIns(options.providers)
    app.decorate('metrics', options.metrics)
    app.addHook('onError', async function countRefusal(_request, _reply, error) {
      const problem = error instanceof Problem ? error : toQuotaProblem(error)
      if (problem !== null) refusals.inc({ code: problem.code, reason: problem.reason })
    })
    // A callback, because a promise per request would cost more than the counting.
    app.addHook('onResponse', function countRequest(request, reply, done) {
      const { method, routeOptions } = request
      const labels = requestLabels(method, routeOptions.url, reply.statusCode)
      requests.observe(labels, reply.elapsedTime / 1_000)
      responses.inc({ class: `${Math.trunc(reply.statusCode / 100)}xx` })
      done()
    })
  },
  { name: 'metrics', fastify: '5.x' },
)
