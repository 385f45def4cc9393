import fp from 'fastify-plugin'
import { createRefusals, type Refusals } from '#src/audit/refusals.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Audit entries of refused requests; unauthenticated ones are counted. */
    refusals: Refusals
  }
}

export default fp(
  async function refusals(app) {
    const counted = createRefusals(app.systemDb, app.log)
    app.decorate('refusals', counted)
    app.addHook('onClose', async function writeCounts() {
      await counted.close()
    })
  },
  { name: 'refusals', fastify: '5.x', dependencies: ['database'] },
)
