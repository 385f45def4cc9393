import type { FastifyPluginAsync } from 'fastify'
import { accessOverview } from '#src/access/overview.ts'
import { accessPage } from '#src/pages/access.ts'

/** Who may do what, for whoever is signed in. */
const access: FastifyPluginAsync = async function access(app) {
  const rows = accessOverview()

  app.get(
    '/app/access',
    { config: { access: 'session' }, schema: { hide: true } },
    async (request, reply) => {
      reply.type('text/html; charset=utf-8').header('cache-control', 'no-store')
      return accessPage(rows, request.sessionCaller.role)
    },
  )
}

export default access
