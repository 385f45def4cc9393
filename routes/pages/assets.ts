import type { FastifyPluginAsync } from 'fastify'
import { publicDocument } from '#src/http/public-document.ts'
import { readTextAsset } from '#src/runtime/assets.ts'

const types = {
  'gatehouse.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
  'replay-progress.js': 'text/javascript; charset=utf-8',
} as const

/** The style sheet, the icon and the script of the progress pages, read at startup. */
const assets: FastifyPluginAsync = async function assets(app) {
  for (const [name, type] of Object.entries(types)) {
    const text = await readTextAsset(`src/pages/${name}`)
    const document = publicDocument(type, () => text)
    app.get(
      `/assets/${name}`,
      { config: { access: 'public' }, schema: { hide: true } },
      async (_request, reply) => reply.sendDocument(document),
    )
  }
}

export default assets
