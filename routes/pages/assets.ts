import { readFile } from 'node:fs/promises'
import type { FastifyPluginAsync } from 'fastify'

const stylesheet = new URL('../../src/pages/gatehouse.css', import.meta.url)

/** The one stylesheet, read once. */
const assets: FastifyPluginAsync = async function assets(app) {
  const css = await readFile(stylesheet, 'utf8')

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
