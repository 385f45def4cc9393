import type { FastifyPluginAsync } from 'fastify'
import type { Metrics } from '#src/observability/metrics.ts'

/** The metrics of this process for Prometheus; on the admin listener only. */
const metricsRoute: FastifyPluginAsync<{
  metrics: Metrics
  /** Updates the metrics that are read from the database. */
  refresh: () => Promise<void>
}> = async function metricsRoute(app, { metrics, refresh }) {
  app.get('/metrics', { config: { access: 'public' } }, async (_request, reply) => {
    await refresh()
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics())
  })
}

export default metricsRoute
