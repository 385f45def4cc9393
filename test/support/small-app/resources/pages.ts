import { created, defineResource, folder, id, tenant, text, updated } from 'gatehouse'

/** What the teams of a tenant write, in their folders. */
export const pages = defineResource('page', {
  plural: 'pages',
  scope: 'chain',
  fields: {
    id: id(),
    tenantId: tenant(),
    folderId: folder(),
    words: text(10_000),
    createdAt: created(),
    updatedAt: updated(),
  },
  filters: ['folderId'],
  actions: {
    read: { permission: null, token: 'page:read' },
    create: { permission: 'page:edit', token: 'page:write', accepts: ['words', 'folderId'] },
    update: { permission: 'page:edit', token: 'page:write', accepts: ['words'] },
    delete: { permission: 'page:remove', token: 'page:write' },
  },
})
