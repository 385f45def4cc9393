import type { FastifyPluginAsync } from 'fastify'
import { readTextAsset } from '#src/assets.ts'

/** The one stylesheet and the scripts of live pages, read once. */
const assets: FastifyPluginAsync = async function assets(app) {
  const css = await readTextAsset('src/pages/gatehouse.css')
  const replayProgress = await readTextAsset('src/pages/replay-progress.js')

  app.get(
    '/assets/gatehouse.css',
    { config: { access: 'public' }, schema: { hide: true } },
    async (_request, reply) =>
      reply
        .type('text/css; charset=utf-8')
        .header('cache-control', 'public, max-age=300')
        .send(css),
  )

  app.get(
    '/assets/replay-progress.js',
    { config: { access: 'public' }, schema: { hide: true } },
    async (_request, reply) =>
      reply
        .type('text/javascript; charset=utf-8')
        .header('cache-control', 'public, max-age=300')
        .send(replayProgress),
  )
}

export default assets
