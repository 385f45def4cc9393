import type { FastifyPluginAsync } from 'fastify'

const publicRoute = { config: { access: 'public' } } as const

/** Liveness: the process responds. Readiness: all its parts work; `failing` names those that do not. */
const health: FastifyPluginAsync<{
  findFailing: () => Promise<string[]>
}> = async function health(app, { findFailing }) {
  app.get('/healthz', publicRoute, async () => ({ status: 'ok' }))

  app.get('/readyz', publicRoute, async (_request, reply) => {
    const failing = await findFailing()
    if (failing.length === 0) return { status: 'ready' }
    return reply.code(503).send({ status: 'not ready', failing })
  })
}

export default health
