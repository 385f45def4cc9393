import { created, defineResource, folder, id, line, tenant, text, updated } from 'gatehouse'

const chain =
  'Only members of the team that owns its folder can reach a document; administrators cannot.'

/** Texts in the folders of teams. */
export const documents = defineResource('document', {
  plural: 'documents',
  scope: 'chain',
  fields: {
    id: id(),
    tenantId: tenant(),
    folderId: folder(),
    title: line(200, 'What it is about'),
    body: text(50_000, 'The text itself, as it was written'),
    createdAt: created(),
    updatedAt: updated(),
  },
  filters: ['folderId'],
  actions: {
    read: { permission: null, token: 'document:read', description: chain },
    create: {
      permission: 'post:write',
      token: 'document:write',
      accepts: ['title', 'body', 'folderId'],
      description: chain,
    },
    update: {
      permission: 'post:write',
      token: 'document:write',
      accepts: ['title', 'body'],
      description: chain,
    },
  },
  page: {
    label: 'Documents',
    icon: 'document',
    lead: 'Documents in your teams’ folders.',
    heading: 'title',
    columns: ['updatedAt'],
    labels: { body: 'Text', folderId: 'Folder' },
  },
})
