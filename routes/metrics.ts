import type { FastifyPluginAsync } from 'fastify'
import type { Metrics } from '#src/observability/metrics.ts'

/** The numbers of this process, for a scraper; on the admin listener only. */
const metricsRoute: FastifyPluginAsync<{
  metrics: Metrics
  /** Brings what is only known to the database up to date. */
  refresh: () => Promise<void>
}> = async function metricsRoute(app, { metrics, refresh }) {
  app.get('/metrics', { config: { access: 'public' } }, async (_request, reply) => {
    await refresh()
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics())
  })
}

export default metricsRoute
