import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { readPage } from '#src/http/pagination.ts'
import { found, readId } from '#src/http/params.ts'
import { IdParams, PageQuery } from '#src/http/schemas.ts'
import { documentListPage, documentPage } from '#src/pages/documents.ts'
import { documentList, findDocument, listDocuments } from '#src/resources/documents.ts'

const pageSize = '25'
const ListQuery = Type.Object(
  { cursor: PageQuery.properties.cursor },
  { additionalProperties: false },
)

const hide = true
const config = { access: { resource: 'document', action: 'read' } } as const

/** Pages of the documents in the folders of the viewer's teams. */
const documents: FastifyPluginAsyncTypebox = async function documents(app) {
  app.get('/app/documents', { config, schema: { hide, querystring: ListQuery } }, showDocuments)
  app.get('/app/documents/:id', { config, schema: { hide, params: IdParams } }, showDocument)
}

async function showDocuments(
  this: FastifyInstance,
  request: FastifyRequest<{ Querystring: Static<typeof ListQuery> }>,
  reply: FastifyReply,
) {
  const part = { limit: pageSize, ...request.query }
  const page = readPage(part, documentList.name, documentList.forms)
  const { data, nextCursor } = await this.db.read(request.tenantEntry, (tx, caller) =>
    listDocuments(tx, caller, page),
  )
  return reply.sendPage(documentListPage(data, nextCursor, request.viewer))
}

async function showDocument(
  this: FastifyInstance,
  request: FastifyRequest<{ Params: Static<typeof IdParams> }>,
  reply: FastifyReply,
) {
  const { tenantEntry, params } = request
  const document = found(await findDocument(this.db, tenantEntry, readId(params.id)))
  return reply.sendPage(documentPage(document, request.viewer))
}

export default documents
