import Type from 'typebox'
import type { TenantPrincipal } from '#src/access/caller.ts'
import { type Acting, defineAction } from '#src/actions/action.ts'
import { CreatedAt, OwnId, TenantId, UpdatedAt } from '#src/http/fields.ts'
import { readId } from '#src/http/params.ts'
import { Id, IdParams, means, NoContent, Nullable, PageOf } from '#src/http/schemas.ts'
import {
  changeFolder,
  createFolder,
  deleteFolder,
  findFolder,
  folderList,
  folderName,
  listFolders,
  lockFolder,
} from './folders.ts'

const Folder = Type.Object(
  {
    id: OwnId,
    tenantId: TenantId,
    name: Type.String({ description: 'For people' }),
    teamId: means(Id, 'The team that owns it and its contents'),
    parentId: Nullable(means(Id, 'The folder it is nested in; null directly with its team')),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  },
  { title: 'Folder' },
)

const name = means(folderName, 'For people')
const teamOrParent = {
  teamId: Type.Optional(means(Id, 'The team that gets it; not together with `parentId`')),
  parentId: Type.Optional(means(Id, 'The folder to nest it in, whose team owns it then')),
}

const NewFolder = Type.Object(
  { name, ...teamOrParent },
  {
    title: 'NewFolder',
    additionalProperties: false,
    oneOf: [{ required: ['teamId'] }, { required: ['parentId'] }],
    description: 'Directly with a team, or nested in a folder and owned by its team',
  },
)

const FolderChange = Type.Object(
  { name: Type.Optional(name), ...teamOrParent },
  {
    title: 'FolderChange',
    additionalProperties: false,
    minProperties: 1,
    not: { required: ['teamId', 'parentId'] },
    description: '`teamId` moves it directly to a team, `parentId` into another folder',
  },
)

const tag = 'folders'

type By = Acting<TenantPrincipal>

/** The operations on the folders of a tenant. */
export const folderActions = {
  list: defineAction({
    name: 'listFolders',
    rule: { resource: 'folder', action: 'read' },
    tag,
    summary: 'List the folders of your tenant, newest first',
    list: folderList,
    result: PageOf(Folder),
    run: ({ tx, by }: By, { page }) => listFolders(tx, by, page),
  }),
  create: defineAction({
    name: 'createFolder',
    rule: { resource: 'folder', action: 'create' },
    tag,
    summary: 'Create a folder, directly with a team or nested in another folder',
    body: NewFolder,
    result: Folder,
    status: 201,
    problems: [404, 'conflict', 'quota-exceeded'],
    once: true,
    versioned: Folder,
    run: ({ tx, by, now }: By, { body }) => createFolder(tx, by, body, now),
  }),
  get: defineAction({
    name: 'getFolder',
    rule: { resource: 'folder', action: 'read' },
    tag,
    summary: 'Read a folder of your tenant',
    params: IdParams,
    result: Folder,
    versioned: Folder,
    run: ({ tx, by }: By, { params }) => findFolder(tx, by, readId(params.id)),
  }),
  update: defineAction({
    name: 'updateFolder',
    rule: { resource: 'folder', action: 'update' },
    tag,
    summary: 'Rename or move a folder',
    description:
      'A folder moves with its contents, which then belong to the team of its new place. 409 if it would contain itself.',
    params: IdParams,
    body: FolderChange,
    result: Folder,
    problems: ['conflict', 'quota-exceeded'],
    once: true,
    versioned: Folder,
    lock: ({ tx, by }: By, { id }) => lockFolder(tx, by, readId(id)),
    run: ({ tx, by, now }: By, { params, body }) =>
      changeFolder(tx, by, readId(params.id), body, now),
  }),
  remove: defineAction({
    name: 'deleteFolder',
    rule: { resource: 'folder', action: 'delete' },
    tag,
    summary: 'Delete an empty folder; 409 while it has folders or documents',
    params: IdParams,
    result: NoContent('The folder is deleted'),
    status: 204,
    problems: ['conflict'],
    versioned: Folder,
    lock: ({ tx, by }: By, { id }) => lockFolder(tx, by, readId(id)),
    run: ({ tx, by }: By, { params }) => deleteFolder(tx, by, readId(params.id)),
  }),
}
