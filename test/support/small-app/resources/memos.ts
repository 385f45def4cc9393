import {
  created,
  defineResource,
  id,
  line,
  optional,
  owner,
  reference,
  tenant,
  text,
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
    details: optional(text(5_000)),
    createdAt: created(),
    updatedAt: updated(),
  },
  search: ['title', 'details'],
  actions: {
    read: { permission: null, token: 'memo:read' },
    create: { permission: null, token: 'memo:write', accepts: ['title', 'details', 'afterId'] },
    update: { permission: null, token: 'memo:write', accepts: ['title', 'details', 'afterId'] },
    delete: { permission: null, token: 'memo:write' },
  },
  events: { updated: 'A memo was changed' },
  erased: { title: 'erased', details: null, afterId: null },
})
