import type { FastifyPluginAsync } from 'fastify'
import { accessOverview } from '#src/access/overview.ts'
import { accessPage } from '#src/pages/access.ts'

/** Who may do what, for whoever is signed in. */
const access: FastifyPluginAsync = async function access(app) {
  const rows = accessOverview()

  app.get(
    '/app/access',
    { config: { access: 'session' }, schema: { hide: true } },
    async (request, reply) => reply.sendPage(accessPage(rows, request.viewer)),
  )
}

export default access
