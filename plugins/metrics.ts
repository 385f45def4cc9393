import fp from 'fastify-plugin'
import type { Metrics } from '#src/metrics.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The numbers of this process; shown on the admin listener only. */
    metrics: Metrics
  }
}

/** Hands every scope the registry of this process. */
export default fp<{ metrics: Metrics }>(
  async function metrics(app, options) {
    app.decorate('metrics', options.metrics)
  },
  { name: 'metrics', fastify: '5.x' },
)
