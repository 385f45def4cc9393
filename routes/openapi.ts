import type { FastifyPluginAsync } from 'fastify'
import { referencePage } from '#src/pages/reference.ts'

const open = { config: { access: 'public' }, schema: { hide: true } } as const

/** The API description, made from the schemas the routes are run with, for programs and people. */
const openapi: FastifyPluginAsync = async function openapi(app) {
  app.get('/openapi.json', open, async () => app.describeApi())

  app.get('/docs', open, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(referencePage(app.describeApi())),
  )
}

export default openapi
