import type { FastifyPluginAsync } from 'fastify'

const publicRoute = { config: { access: 'public' } } as const

/**
 * Liveness: the process responds. Readiness: all its parts work; `failing` names those that do not, and
 * `warnings` what needs an operator although all work.
 */
const health: FastifyPluginAsync<{
  findFailing: () => Promise<string[]>
  findWarnings: () => Promise<string[]>
}> = async function health(app, { findFailing, findWarnings }) {
  app.get('/healthz', publicRoute, async () => ({ status: 'ok' }))

  app.get('/readyz', publicRoute, async (_request, reply) => {
    const failing = await findFailing()
    if (failing.length === 0) {
      const warnings = await findWarnings().catch((): string[] => [])
      return { status: 'ready', ...(warnings.length > 0 && { warnings }) }
    }
    return reply.code(503).send({ status: 'not ready', failing })
  })
}

export default health
