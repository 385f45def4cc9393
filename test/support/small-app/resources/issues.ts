import { created, defineResource, id, line, optional, reference, updated } from 'gatehouse'

const changed = ['title', 'assetId', 'blockedById'] as const

/** What is to be solved: a reference of each kind, one of them to another row of its own. */
export const issues = defineResource('issue', {
  plural: 'issues',
  scope: 'tenant',
  fields: {
    id: id(),
    projectId: reference('project', { onDelete: 'cascade' }),
    assetId: optional(reference('asset', { onDelete: 'restrict' })),
    blockedById: optional(reference('issue', { onDelete: 'clear' })),
    title: line(200),
    createdAt: created(),
    updatedAt: updated(),
  },
  filters: ['projectId'],
  unique: [['projectId', 'title']],
  actions: {
    read: { permission: 'task:read' },
    create: { permission: 'task:write', accepts: ['projectId', ...changed] },
    update: { permission: 'task:write', accepts: changed },
    delete: { permission: 'task:close' },
  },
  events: { created: 'An issue was opened', updated: 'An issue was changed' },
  page: { label: 'Issues', heading: 'title', columns: ['projectId', 'assetId'] },
})
