import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { readPage } from '#src/http/pagination.ts'
import { found, readId } from '#src/http/params.ts'
import {
  Id,
  IdParams,
  Line,
  PageOf,
  PageQuery,
  problems,
  Text,
  Time,
  Uuid,
} from '#src/http/schemas.ts'
import {
  changeDocument,
  createDocument,
  documentList,
  findDocument,
  listDocuments,
} from '#src/resources/documents.ts'

const Title = Line(200)
const Body = Text(50_000)

const Document = Type.Object({
  id: Id,
  tenantId: Uuid,
  folderId: Id,
  title: Type.String(),
  body: Type.String(),
  createdAt: Time,
  updatedAt: Time,
})

const NewDocument = Type.Object(
  { title: Title, body: Body, folderId: Id },
  { additionalProperties: false },
)

const DocumentChange = Type.Object(
  { title: Type.Optional(Title), body: Type.Optional(Body) },
  { additionalProperties: false, minProperties: 1 },
)

const tags = ['documents']
const chain =
  'Documents belong to the members of the team that owns their folder; to nobody else, administrators included.'

/** Documents need the chain: member of team, team owns folder, folder holds document. */
const documents: FastifyPluginAsyncTypebox = async function documents(app) {
  app.get(
    '/documents',
    {
      config: { access: { resource: 'document', action: 'read' } },
      schema: {
        tags,
        summary: 'The documents of your teams, newest first',
        description: chain,
        querystring: PageQuery,
        response: { 200: PageOf(Document), ...problems(400, 401, 403, 429, 503) },
      },
    },
    async (request) => {
      const scope = request.tenantScope
      const page = readPage(request.query, documentList.name, documentList.forms)
      return app.db.read(scope, (tx) => listDocuments(tx, scope, page))
    },
  )

  app.post(
    '/documents',
    {
      config: { access: { resource: 'document', action: 'create' } },
      schema: {
        tags,
        summary: 'Write a document into a folder of one of your teams',
        description: chain,
        body: NewDocument,
        response: { 201: Document, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request, reply) => {
      const { tenantScope: scope, body } = request
      const now = app.clock.now()
      const created = await app.db.write(scope, (tx) => createDocument(tx, scope, body, now))
      return reply.code(201).send(found(created))
    },
  )

  app.get(
    '/documents/:id',
    {
      config: { access: { resource: 'document', action: 'read' } },
      schema: {
        tags,
        summary: 'Read a document of one of your teams',
        description: chain,
        params: IdParams,
        response: { 200: Document, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request) => {
      const scope = request.tenantScope
      const id = readId(request.params.id)
      return found(await app.db.read(scope, (tx) => findDocument(tx, scope, id)))
    },
  )

  app.patch(
    '/documents/:id',
    {
      config: { access: { resource: 'document', action: 'update' } },
      schema: {
        tags,
        summary: 'Change a document of one of your teams',
        description: chain,
        params: IdParams,
        body: DocumentChange,
        response: { 200: Document, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request) => {
      const { tenantScope: scope, body } = request
      const id = readId(request.params.id)
      const now = app.clock.now()
      return found(await app.db.write(scope, (tx) => changeDocument(tx, scope, id, body, now)))
    },
  )
}

export default documents
