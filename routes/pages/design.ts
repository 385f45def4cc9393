import type { FastifyPluginAsync } from 'fastify'
import { designPage } from '#src/pages/docs/design.ts'

/** The components of the pages, for people who change them. Registered outside production only. */
const design: FastifyPluginAsync = async function design(app) {
  app.get(
    '/app/design',
    { config: { access: 'public' }, schema: { hide: true } },
    async (_request, reply) => reply.sendPage(designPage()),
  )
}

export default design
