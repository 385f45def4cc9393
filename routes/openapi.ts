import type { FastifyPluginAsync } from 'fastify'

/** The API description, made from the schemas the routes are run with. */
const openapi: FastifyPluginAsync = async function openapi(app) {
  app.get('/openapi.json', { config: { access: 'public' }, schema: { hide: true } }, async () =>
    app.swagger(),
  )
}

export default openapi
