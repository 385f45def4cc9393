import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Brand } from '#src/config/brand.ts'
import { type PublicDocument, publicDocument } from '#src/http/public-document.ts'
import {
  assetNames,
  assetVersion,
  brandStyle,
  hashOf,
  pageAssets,
  readPageAsset,
} from '#src/pages/kit/asset-path.ts'

const Query = Type.Object({ v: Type.Optional(Type.String({ pattern: '^\\w{0,64}$' })) })

/**
 * The style sheet, the scripts and the icon of the pages, and the logo and colours of the brand. Under the version that this process serves,
 * a browser keeps them for a year; under any other, such as that of a newer process during a rolling
 * restart, it asks again.
 */
const assets: FastifyPluginAsyncTypebox<{ brand: Brand }> = async function assets(app, { brand }) {
  const { logo, accent } = brand
  const add = (path: string, version: string, document: PublicDocument) =>
    app.get(
      path,
      { config: { access: 'public' }, schema: { hide: true, querystring: Query } },
      async (request, reply) =>
        reply.sendDocument(document, request.query.v === version ? 'year' : 'minutes'),
    )

  for (const name of assetNames) {
    const document = publicDocument(pageAssets[name].type, () => readPageAsset(name))
    add(`/assets/${name}`, assetVersion(name), document)
  }
  if (logo !== null) {
    add(
      '/assets/logo',
      hashOf(logo.bytes),
      publicDocument(logo.type, () => logo.bytes),
    )
  }
  if (accent !== null) {
    const style = brandStyle(accent)
    add(
      '/assets/brand.css',
      hashOf(style),
      publicDocument('text/css; charset=utf-8', () => style),
    )
  }
}

export default assets
