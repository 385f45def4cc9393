import type { FastifyPluginAsync } from 'fastify'

const publicRoute = { config: { access: 'public' } } as const

/** Alive: the process answers. Ready: it can do its work. */
const health: FastifyPluginAsync<{ isReady: () => Promise<boolean> }> = async function health(
  app,
  { isReady },
) {
  app.get('/healthz', publicRoute, async () => ({ status: 'ok' }))

  app.get('/readyz', publicRoute, async (_request, reply) => {
    const ready = await isReady()
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready' })
  })
}

export default health
