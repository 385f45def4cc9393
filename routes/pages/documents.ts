import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { readPage } from '#src/http/pagination.ts'
import { found, readId } from '#src/http/params.ts'
import { IdParams, PageQuery } from '#src/http/schemas.ts'
import { documentListPage, documentPage } from '#src/pages/documents.ts'
import { documentList, findDocument, listDocuments } from '#src/resources/documents.ts'

const shown = '25'
const Query = Type.Object({ cursor: PageQuery.properties.cursor }, { additionalProperties: false })
const hidden = { hide: true } as const
const read = { resource: 'document', action: 'read' } as const

/** The documents at the end of one's chain as pages. */
const documentPages: FastifyPluginAsyncTypebox = async function documentPages(app) {
  app.get(
    '/app/documents',
    { config: { access: read }, schema: { ...hidden, querystring: Query } },
    async (request, reply) => {
      const scope = request.tenantScope
      const page = readPage(
        { limit: shown, ...request.query },
        documentList.name,
        documentList.forms,
      )
      const { data, nextCursor } = await app.db.read(scope, (tx) => listDocuments(tx, scope, page))
      return reply.sendPage(documentListPage(data, nextCursor, request.viewer))
    },
  )

  app.get(
    '/app/documents/:id',
    { config: { access: read }, schema: { ...hidden, params: IdParams } },
    async (request, reply) => {
      const scope = request.tenantScope
      const id = readId(request.params.id)
      const document = found(await app.db.read(scope, (tx) => findDocument(tx, scope, id)))
      return reply.sendPage(documentPage(document, request.viewer))
    },
  )
}

export default documentPages
