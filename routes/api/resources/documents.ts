import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { readList } from '#src/http/lists/pagination.ts'
import { CreatedRange, IdFilter, SortBy } from '#src/http/lists/query.ts'
import { found, readId } from '#src/http/params.ts'
import { Id, IdParams, PageOf, PageQuery, problems, Time, Uuid } from '#src/http/schemas.ts'
import {
  changeDocument,
  createDocument,
  documentFields,
  documentList,
  findDocument,
  listDocuments,
  lockDocument,
} from '#src/resources/documents.ts'

const { title: Title, body: Body } = documentFields

const Document = Type.Object(
  {
    id: Id,
    tenantId: Uuid,
    folderId: Id,
    title: Type.String(),
    body: Type.String(),
    createdAt: Time,
    updatedAt: Time,
  },
  { title: 'Document' },
)

const NewDocument = Type.Object(
  { title: Title, body: Body, folderId: Id },
  { title: 'NewDocument', additionalProperties: false },
)

const DocumentChange = Type.Object(
  { title: Type.Optional(Title), body: Type.Optional(Body) },
  { title: 'DocumentChange', additionalProperties: false, minProperties: 1 },
)

const DocumentQuery = Type.Object(
  {
    ...PageQuery.properties,
    ...CreatedRange,
    folderId: IdFilter('In this folder, not in the folders within it'),
    sort: SortBy('createdAt'),
  },
  { additionalProperties: false },
)

const tags = ['documents']
const chain =
  'Only members of the team that owns its folder can reach a document; administrators cannot.'

/** Access to a document is by the chain: member of a team, team owns folder, folder has document. */
const documents: FastifyPluginAsyncTypebox = async function documents(app) {
  app.get(
    '/documents',
    {
      config: { access: { resource: 'document', action: 'read' } },
      schema: {
        operationId: 'listDocuments',
        tags,
        summary: 'List the documents of your teams, newest first',
        description: chain,
        querystring: DocumentQuery,
        response: { 200: PageOf(Document) },
      },
    },
    async (request) => {
      const { page, filter } = readList(request.query, documentList)
      return app.db.read(request.tenantEntry, (tx, caller) =>
        listDocuments(tx, caller, page, filter),
      )
    },
  )

  app.post(
    '/documents',
    {
      config: {
        versioned: Document,
        idempotencyKey: true,
        access: { resource: 'document', action: 'create' },
      },
      schema: {
        operationId: 'createDocument',
        tags,
        summary: 'Create a document in a folder of one of your teams',
        description: chain,
        body: NewDocument,
        response: { 201: Document, ...problems(404, 'quota-exceeded') },
      },
    },
    async (request, reply) => {
      const { body } = request
      const now = app.clock.now()
      const created = await app.db.write(request.tenantEntry, (tx, caller) =>
        createDocument(tx, caller, body, now),
      )
      const document = found(created)
      return reply.code(201).header('location', `/documents/${document.id}`).send(document)
    },
  )

  app.get(
    '/documents/:id',
    {
      config: { versioned: Document, access: { resource: 'document', action: 'read' } },
      schema: {
        operationId: 'getDocument',
        tags,
        summary: 'Read a document of one of your teams',
        description: chain,
        params: IdParams,
        response: { 200: Document },
      },
    },
    async (request) => {
      const id = readId(request.params.id)
      return found(await app.db.read(request.tenantEntry, findDocument(id)))
    },
  )

  app.patch(
    '/documents/:id',
    {
      config: { versioned: Document, access: { resource: 'document', action: 'update' } },
      schema: {
        operationId: 'updateDocument',
        tags,
        summary: 'Change a document of one of your teams',
        description: chain,
        params: IdParams,
        body: DocumentChange,
        response: { 200: Document, ...problems('quota-exceeded') },
      },
    },
    async (request, reply) => {
      const { body } = request
      const id = readId(request.params.id)
      const now = app.clock.now()
      return found(
        await app.db.write(request.tenantEntry, async (tx, caller) => {
          await reply.ifMatch(() => lockDocument(tx, caller, id))
          return changeDocument(tx, caller, id, body, now)
        }),
      )
    },
  )
}

export default documents
