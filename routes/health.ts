import type { FastifyPluginAsync } from 'fastify'
import { version as release } from '#src/runtime/assets.ts'

const publicRoute = { config: { access: 'public' } } as const

type Options = {
  findFailing: () => Promise<string[]>
  findWarnings: () => Promise<string[]>
  /** The release that last ran `migrate` on the database. */
  findSchema: () => Promise<string | null>
}

/**
 * Liveness: the process responds. Readiness: all its parts work; `failing` names those that do not, and
 * `warnings` what needs an operator although all work. `release` is that of the process, `schema` that of
 * the database.
 */
const health: FastifyPluginAsync<Options> = async function health(app, options) {
  app.get('/healthz', publicRoute, async () => ({ status: 'ok' }))

  app.get('/readyz', publicRoute, async (_request, reply) => {
    const failing = await options.findFailing()
    if (failing.length > 0) {
      return reply.code(503).send({ status: 'not ready', failing, release })
    }
    const [schema, warnings] = await Promise.all([
      options.findSchema().catch(() => null),
      options.findWarnings().catch((): string[] => []),
    ])
    return { status: 'ready', release, schema, ...(warnings.length > 0 && { warnings }) }
  })
}

export default health
