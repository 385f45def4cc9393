import type { FastifyPluginAsync } from 'fastify'
import { accessOverview } from '#src/access/overview.ts'
import { accessPage } from '#src/pages/account/access.ts'

/** The permissions page, for every signed-in user. */
const access: FastifyPluginAsync = async function access(app) {
  app.get(
    '/app/access',
    { config: { access: { resource: 'account', action: 'read' } }, schema: { hide: true } },
    async (request, reply) => {
      await request.enter()
      return reply.sendPage(accessPage(accessOverview(), request.viewer))
    },
  )
}

export default access
