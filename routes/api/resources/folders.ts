import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import {
  changeFolder,
  createFolder,
  deleteFolder,
  findFolder,
  folderList,
  folderName,
  listFolders,
  lockFolder,
} from '#src/domain/folders.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { found, readId } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import {
  Id,
  IdParams,
  NoContent,
  Nullable,
  PageOf,
  PageQuery,
  problems,
  Time,
  Uuid,
} from '#src/http/schemas.ts'

const Folder = Type.Object(
  {
    id: Id,
    tenantId: Uuid,
    name: Type.String(),
    teamId: Type.Integer({ ...Id, description: 'The team that owns it and its contents' }),
    parentId: Nullable(Type.Integer({ ...Id, description: 'The folder it is nested in' })),
    createdAt: Time,
    updatedAt: Time,
  },
  { title: 'Folder' },
)

const teamOrParent = { teamId: Type.Optional(Id), parentId: Type.Optional(Id) }

const NewFolder = Type.Object(
  { name: folderName, ...teamOrParent },
  {
    title: 'NewFolder',
    additionalProperties: false,
    oneOf: [{ required: ['teamId'] }, { required: ['parentId'] }],
    description: 'Directly with a team, or nested in a folder and owned by its team',
  },
)

const FolderChange = Type.Object(
  { name: Type.Optional(folderName), ...teamOrParent },
  {
    title: 'FolderChange',
    additionalProperties: false,
    minProperties: 1,
    not: { required: ['teamId', 'parentId'] },
    description: '`teamId` moves it directly to a team, `parentId` into another folder',
  },
)

const tags = ['folders']

/** The folders of a tenant, for its administrators. */
const folders: FastifyPluginAsyncTypebox = async function folders(app) {
  app.get(
    '/folders',
    {
      config: { access: { resource: 'folder', action: 'read' } },
      schema: {
        operationId: 'listFolders',
        tags,
        summary: 'List the folders of your tenant, newest first',
        querystring: PageQuery,
        response: { 200: PageOf(Folder) },
      },
    },
    async (request) => {
      const page = readPage(request.query, folderList.name, folderList.forms)
      return app.db.read(request.tenantPrincipalEntry, (tx, caller) =>
        listFolders(tx, caller, page),
      )
    },
  )

  app.post(
    '/folders',
    {
      config: {
        versioned: Folder,
        idempotencyKey: true,
        access: { resource: 'folder', action: 'create' },
      },
      schema: {
        operationId: 'createFolder',
        tags,
        summary: 'Create a folder, directly with a team or nested in another folder',
        body: NewFolder,
        response: { 201: Folder, ...problems(404, 'conflict', 'quota-exceeded') },
      },
    },
    async (request, reply) => {
      const { body } = request
      const now = app.clock.now()
      const created = await app.db.write(request.tenantPrincipalEntry, (tx, caller) =>
        createFolder(tx, caller, body, now),
      )
      const folder = found(created)
      return reply.code(201).header('location', `/folders/${folder.id}`).send(folder)
    },
  )

  app.get(
    '/folders/:id',
    {
      config: { versioned: Folder, access: { resource: 'folder', action: 'read' } },
      schema: {
        operationId: 'getFolder',
        tags,
        summary: 'Read a folder of your tenant',
        params: IdParams,
        response: { 200: Folder },
      },
    },
    async (request) => {
      const id = readId(request.params.id)
      return found(
        await app.db.read(request.tenantPrincipalEntry, (tx, caller) => findFolder(tx, caller, id)),
      )
    },
  )

  app.patch(
    '/folders/:id',
    {
      config: {
        idempotencyKey: true,
        versioned: Folder,
        access: { resource: 'folder', action: 'update' },
      },
      schema: {
        operationId: 'updateFolder',
        tags,
        summary: 'Rename or move a folder',
        description:
          'A folder moves with its contents, which then belong to the team of its new place. 409 if it would contain itself.',
        params: IdParams,
        body: FolderChange,
        response: { 200: Folder, ...problems('conflict', 'quota-exceeded') },
      },
    },
    async (request, reply) => {
      const { body } = request
      const id = readId(request.params.id)
      const now = app.clock.now()
      return found(
        await app.db.write(request.tenantPrincipalEntry, async (tx, caller) => {
          await reply.ifMatch(() => lockFolder(tx, caller, id))
          return changeFolder(tx, caller, id, body, now)
        }),
      )
    },
  )

  app.delete(
    '/folders/:id',
    {
      config: { versioned: Folder, access: { resource: 'folder', action: 'delete' } },
      schema: {
        operationId: 'deleteFolder',
        tags,
        summary: 'Delete an empty folder; 409 while it has folders or documents',
        params: IdParams,
        response: { 204: NoContent('The folder is deleted'), ...problems('conflict') },
      },
    },
    async (request, reply) => {
      const id = readId(request.params.id)
      const deleted = await app.db.write(request.tenantPrincipalEntry, async (tx, caller) => {
        await reply.ifMatch(() => lockFolder(tx, caller, id))
        return deleteFolder(tx, caller, id)
      })
      if (!deleted) throw new Problem('not-found')
      return reply.code(204).send(null)
    },
  )
}

export default folders
