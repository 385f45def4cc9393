import type { FastifyPluginAsync } from 'fastify'
import { referencePage } from '#src/pages/reference.ts'

// The same for everyone, until the next release.
const cached = 'public, max-age=300'
const open = { config: { access: 'public' }, schema: { hide: true } } as const

/** The OpenAPI description, generated from the route schemas, as JSON and as a page. */
const openapi: FastifyPluginAsync = async function openapi(app) {
  app.get('/openapi.json', open, async (_request, reply) =>
    reply.header('cache-control', cached).send(app.describeApi()),
  )

  app.get('/docs', open, async (_request, reply) =>
    reply
      .header('cache-control', cached)
      .type('text/html; charset=utf-8')
      .send(referencePage(app.describeApi())),
  )
}

export default openapi
