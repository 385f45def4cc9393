import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { publicDocument } from '#src/http/public-document.ts'
import { assetTypes, assetVersion, readPageAsset } from '#src/pages/asset-path.ts'

const Query = Type.Object({ v: Type.Optional(Type.String({ pattern: '^\\w{0,64}$' })) })
const assetNames = ['gatehouse.css', 'gatehouse.js', 'icon.svg'] as const

/**
 * The style sheet, the script and the icon of the pages. Under the version that this process serves,
 * a browser keeps them for a year; under any other, such as that of a newer process during a rolling
 * restart, it asks again.
 */
const assets: FastifyPluginAsyncTypebox = async function assets(app) {
  for (const name of assetNames) {
    const document = publicDocument(assetTypes[name], () => readPageAsset(name))
    app.get(
      `/assets/${name}`,
      { config: { access: 'public' }, schema: { hide: true, querystring: Query } },
      async (request, reply) =>
        reply.sendDocument(document, request.query.v === assetVersion(name) ? 'year' : 'minutes'),
    )
  }
}

export default assets
