import type { FastifyPluginAsync } from 'fastify'
import { readTextAsset } from '#src/assets.ts'

/** The one stylesheet, read once. */
const assets: FastifyPluginAsync = async function assets(app) {
  const css = await readTextAsset('src/pages/gatehouse.css')

  app.get(
    '/assets/gatehouse.css',
    { config: { access: 'public' }, schema: { hide: true } },
    async (_request, reply) =>
      reply
        .type('text/css; charset=utf-8')
        .header('cache-control', 'public, max-age=300')
        .send(css),
  )
}

export default assets
