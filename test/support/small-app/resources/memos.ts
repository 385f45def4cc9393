import {
  created,
  defineResource,
  id,
  line,
  optional,
  owner,
  reference,
  tenant,
  updated,
} from 'gatehouse'

/** What a person notes for themselves, in whichever tenant. */
export const memos = defineResource('memo', {
  plural: 'memos',
  scope: 'owner',
  fields: {
    id: id(),
    tenantId: tenant(),
    userId: owner(),
    afterId: optional(reference('memo', { onDelete: 'clear' })),
    title: line(200),
    createdAt: created(),
    updatedAt: updated(),
  },
  actions: {
    read: { permission: null, token: 'memo:read' },
    create: { permission: null, token: 'memo:write', accepts: ['title', 'afterId'] },
    update: { permission: null, token: 'memo:write', accepts: ['title', 'afterId'] },
    delete: { permission: null, token: 'memo:write' },
  },
  events: { updated: 'A memo was changed' },
  erased: { title: 'erased', afterId: null },
})
