import { created, defineResource, id, line, owner, tenant, updated } from 'gatehouse'

/** What a person notes for themselves, in whichever tenant. */
export const memos = defineResource('memo', {
  plural: 'memos',
  scope: 'owner',
  fields: {
    id: id(),
    tenantId: tenant(),
    userId: owner(),
    title: line(200),
    createdAt: created(),
    updatedAt: updated(),
  },
  actions: {
    read: { permission: null, token: 'memo:read' },
    create: { permission: null, token: 'memo:write', accepts: ['title'] },
    update: { permission: null, token: 'memo:write', accepts: ['title'] },
    delete: { permission: null, token: 'memo:write' },
  },
  events: { updated: 'A memo was changed' },
})
