import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { readPage } from '#src/http/pagination.ts'
import { found, readId } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import {
  Id,
  IdParams,
  Line,
  NoContent,
  Nullable,
  PageOf,
  PageQuery,
  problems,
  Time,
  Uuid,
} from '#src/http/schemas.ts'
import {
  changeFolder,
  createFolder,
  deleteFolder,
  findFolder,
  folderList,
  listFolders,
  lockFolder,
} from '#src/resources/folders.ts'

const Name = Line(200)

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
  { name: Name, ...teamOrParent },
  {
    title: 'NewFolder',
    additionalProperties: false,
    oneOf: [{ required: ['teamId'] }, { required: ['parentId'] }],
    description: 'Directly with a team, or nested in a folder and owned by its team',
  },
)

const FolderChange = Type.Object(
  { name: Type.Optional(Name), ...teamOrParent },
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
        response: { 200: PageOf(Folder), ...problems(400, 401, 403, 429, 503) },
      },
    },
    listTenantFolders,
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
        response: {
          201: Folder,
          ...problems(400, 401, 403, 404, 'conflict', 'quota-exceeded', 429, 503),
        },
      },
    },
    postFolder,
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
        response: { 200: Folder, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    readFolder,
  )

  app.patch(
    '/folders/:id',
    {
      config: { versioned: Folder, access: { resource: 'folder', action: 'update' } },
      schema: {
        operationId: 'updateFolder',
        tags,
        summary: 'Rename or move a folder',
        description:
          'A folder moves with its contents, which then belong to the team of its new place. 409 if it would contain itself.',
        params: IdParams,
        body: FolderChange,
        response: {
          200: Folder,
          ...problems(400, 401, 403, 404, 'conflict', 'quota-exceeded', 429, 503),
        },
      },
    },
    patchFolder,
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
        response: {
          204: NoContent('The folder is deleted'),
          ...problems(400, 401, 403, 404, 'conflict', 429, 503),
        },
      },
    },
    removeFolder,
  )
}

async function listTenantFolders(
  this: FastifyInstance,
  request: FastifyRequest<{ Querystring: Static<typeof PageQuery> }>,
) {
  const page = readPage(request.query, folderList.name, folderList.forms)
  return this.db.read(request.tenantPrincipalEntry, (tx, caller) => listFolders(tx, caller, page))
}

async function postFolder(
  this: FastifyInstance,
  request: FastifyRequest<{ Body: Static<typeof NewFolder> }>,
  reply: FastifyReply,
) {
  const { body } = request
  const now = this.clock.now()
  const created = await this.db.write(request.tenantPrincipalEntry, (tx, caller) =>
    createFolder(tx, caller, body, now),
  )
  const folder = found(created)
  return reply.code(201).header('location', `/folders/${folder.id}`).send(folder)
}

async function readFolder(
  this: FastifyInstance,
  request: FastifyRequest<{ Params: Static<typeof IdParams> }>,
) {
  const id = readId(request.params.id)
  return found(
    await this.db.read(request.tenantPrincipalEntry, (tx, caller) => findFolder(tx, caller, id)),
  )
}

async function patchFolder(
  this: FastifyInstance,
  request: FastifyRequest<{ Params: Static<typeof IdParams>; Body: Static<typeof FolderChange> }>,
  reply: FastifyReply,
) {
  const { body } = request
  const id = readId(request.params.id)
  const now = this.clock.now()
  return found(
    await this.db.write(request.tenantPrincipalEntry, async (tx, caller) => {
      await reply.ifMatch(() => lockFolder(tx, caller, id))
      return changeFolder(tx, caller, id, body, now)
    }),
  )
}

async function removeFolder(
  this: FastifyInstance,
  request: FastifyRequest<{ Params: Static<typeof IdParams> }>,
  reply: FastifyReply,
) {
  const id = readId(request.params.id)
  const deleted = await this.db.write(request.tenantPrincipalEntry, async (tx, caller) => {
    await reply.ifMatch(() => lockFolder(tx, caller, id))
    return deleteFolder(tx, caller, id)
  })
  if (!deleted) throw new Problem('not-found')
  return reply.code(204).send(null)
}

export default folders
